"""The default method of every system on instances that nothing was tuned on.

No study measures by the processor's time, or how much memory a run takes.

The instances are drawn by the `paper` preset from seeds beyond those of all other tables, or read
from public files: OR-Library's and Khan's knapsacks, cluster traces, pipeline profiles, model
files. Beside the default method stand the system's plain solvers: exact formulations given to
HiGHS, CP-SAT or SCIP as they are, and exact models written for CP-SAT. All of them get the first
time limit; the best of each solver gets the longer ones. The best of these is in the row, and
METIS for partitions where it is installed.

Every run is one in a process of its own, on one thread, under the same limit; seconds are the
processor's, without imports and compiling. A row is a loss if any plain solver has the better value
or bound, or a proof that the default lacks, or if both have a proof and the default's took 0.1 s
longer.

Public files are read from ../shared/data beside the repository, or from --data; what is missing is
left out. Run `python benchmarks/fresh_instances.py [SYSTEM ...] [--time-limit 10 60] [--count 2]
[--seed 1000] [--public-only]`. Rows are written to --out as they come, and not done again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from defaults_losses import plain_methods
from one_process import Run, apart

from gadgetopt.system.files import Document
from gadgetopt.system.generation import Series, documents_of
from gadgetopt.system.registry import problem, problem_names

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

#: Models of MIPLIB among those of HiGHS.
MIPLIB_MODELS = "bell5", "dcmulti", "egout", "flugpl", "gesa2", "gt2", "lseu", "p0548", "rgn"

#: On what PipeDream's profiles run.
PIPEDREAM = {"cluster": "4x4", "microbatches": 16}

#: Traces as their importers put them on clusters by themselves.
TRACES = ("traces/muri_trace1.csv", "muri", {}), ("traces/philly.csv", "philly", {})

#: Files by system: what they are, the importer's name, and its options.
PUBLIC: dict[str, Sequence[tuple[str, str, dict[str, Any]]]] = {
    "a_srpt": [
        ("traces/muri_trace1.csv", "muri", {"jobs": 200}),
        ("traces/muri_trace3.csv", "muri", {"jobs": 200}),
        ("traces/philly.csv", "philly", {"jobs": 200}),
    ],
    "adversarial_online_run": [
        ("traces/muri_trace3.csv", "muri", {}),
        ("traces/philly.csv", "philly", {"requests": 2000}),
    ],
    "dapple": [("pipedream/*.graph.txt", "pipedream-profile", PIPEDREAM)],
    "gadget": TRACES,
    "knapsack": [
        ("orlib/mknapcb1.txt", "orlib-mknap", {"problems": "0,20"}),
        ("orlib/mknapcb4.txt", "orlib-mknap", {"problems": "0,20"}),
        ("mmkp/I0*", "mmkp", {}),
    ],
    "marl_placement": TRACES,
    "mip": [
        ("mip/cbcdata/p0*.mps", "mps", {}),
        *((f"mip/highs/{name}.mps", "mps", {}) for name in MIPLIB_MODELS),
    ],
    "pd_ors": TRACES,
    "sjf_bco": [*TRACES, ("traces/muri_trace3.csv", "muri", {})],
    "smd": TRACES,
    "spp": [("pipedream/*.graph.txt", "pipedream-profile", PIPEDREAM)],
}

#: Public tools that are methods of a system.
TOOLS = {"bgl_partition": "metis"}

#: Values and bounds closer than this, relative, are equal.
SAME = 1e-6

#: Seconds by which a proof may come later.
LATER_S = 0.1


@dataclass(frozen=True)
class Case:
    """An instance by where it comes from: a seed of `paper`, or one of a public file's."""

    system: str
    seed: int = -1
    path: Path | None = None
    importer: str = ""
    options: tuple[tuple[str, Any], ...] = ()
    index: int = 0

    @property
    def name(self) -> str:
        """What a row calls it."""
        return f"paper:{self.seed}" if self.path is None else f"{self.path.name}:{self.index}"

    def document(self) -> Document:
        """Draw or read the instance."""
        if self.path is None:
            series = Series(system=self.system, preset="paper", seed=self.seed, count=1)
            return next(documents_of(series))
        return _read(problem(self.system), self.path, self.importer, self.options)[self.index]


def _read(system: Any, path: Path, name: str, options: Any) -> list[Document]:
    importer = next(x for x in system.importers if x.format == name)
    settings = {**importer.parameters, **dict(options)}
    made = importer.read([path], np.random.default_rng(0), **settings).instances
    return [Document(system, "instance", name, instance) for name, instance in made]


def cases(given: argparse.Namespace) -> Iterator[Case]:
    """Yield the instances of the systems that are asked for."""
    for system in given.systems or problem_names():
        for seed in range(given.seed, given.seed + given.count * (not given.public_only)):
            yield Case(system, seed)
        for pattern, importer, options in PUBLIC.get(system, ()):
            for path in sorted(given.data.glob(pattern)):
                asked = tuple(options.items())
                for index in range(len(_read(problem(system), path, importer, asked))):
                    yield Case(system, -1, path, importer, asked, index)


@dataclass(frozen=True)
class Row:
    """The default's run and the best plain one's on an instance."""

    case: str
    system: str
    limit_s: float
    default: Run
    plain: str
    theirs: Run | None
    tool: Run | None
    losses: tuple[str, ...]

    def cells(self) -> list[str]:
        """Return the cells of the printed row."""
        theirs = told(self.theirs) if self.theirs else [""] * 5
        tool = f"{self.tool.value:.6g}" if self.tool and self.tool.value is not None else ""
        mine = [*told(self.default), f"{self.default.memory_mb:.0f}"]
        return [self.system, self.case, *mine, self.plain, *theirs, tool, ", ".join(self.losses)]


def told(run: Run) -> list[str]:
    """Return value, bound, status, gap and seconds of a run."""
    numbers = ["" if x is None else f"{x:.8g}" for x in (run.value, run.bound)]
    gap = "" if run.gap is None else f"{100 * run.gap:.3g}"
    return [*numbers, f"{run.status} {run.voucher}".strip(), gap, f"{run.seconds:.2f}"]


def losses_of(mine: Run, theirs: Run) -> tuple[str, ...]:
    """Return in what a plain solver's run is the better one."""
    sign = -1.0 if mine.sense == "max" else 1.0

    def ahead(ours: float | None, other: float | None, towards: float) -> bool:
        if ours is None or other is None:
            return ours is None and other is not None
        return towards * (ours - other) > SAME * max(1.0, abs(other))

    found = []
    if ahead(mine.value, theirs.value, sign):
        found.append("value")
    if ahead(mine.bound, theirs.bound, -sign):
        found.append("bound")
    if theirs.closed and not mine.closed:
        found.append("proof")
    if theirs.closed and mine.closed and mine.seconds > theirs.seconds + LATER_S:
        found.append("time")
    return tuple(found)


def best(runs: Mapping[str, Run]) -> str:
    """Return the method with the best value, then a proof, then the best bound, then the time."""

    def key(name: str) -> tuple[float, ...]:
        run = runs[name]
        sign = -1.0 if run.sense == "max" else 1.0
        value = float("inf") if run.value is None else sign * run.value
        bound = float("inf") if run.bound is None else -sign * run.bound
        return value, not run.closed, bound, run.seconds

    return min(runs, key=key)


def rows(
    case: Case, limits_s: Sequence[float], done: Mapping[tuple[str, float], Row]
) -> Iterator[Row]:
    """Yield the rows of an instance, one for every time limit that is not done."""
    declared = problem(case.system)
    plain = plain_methods(declared)
    last: Row | None = None
    for limit_s in limits_s:
        known = done.get((f"{case.system} {case.name}", limit_s))
        if known:
            last, plain = known, {name: plain[name] for name in plain if name == known.plain}
            continue
        if last and last.default.closed and not last.losses:  # more time changes nothing
            yield replace(last, limit_s=limit_s)
            continue
        mine = apart(case.document, declared.default_method, limit_s)
        runs: dict[str, Run] = {}
        # A default that is ready at once cannot be later by more than is measured.
        if not (mine.closed and mine.seconds <= LATER_S):
            tried = {name: apart(case.document, name, limit_s) for name in plain}
            runs = {n: r for n, r in tried.items() if r.value is not None or r.bound is not None}
        plain = {name: plain[name] for name in _of_each_backend(runs, plain)}
        top = best(runs) if runs else ""
        tool = TOOLS.get(case.system)
        last = Row(
            case=case.name,
            system=case.system,
            limit_s=limit_s,
            default=mine,
            plain=top,
            theirs=runs.get(top),
            tool=apart(case.document, tool, limit_s) if tool else None,
            losses=tuple(dict.fromkeys(x for r in runs.values() for x in losses_of(mine, r))),
        )
        yield last


def _of_each_backend(runs: Mapping[str, Run], backends: Mapping[str, str]) -> list[str]:
    """Return the best method of each backend."""
    found = []
    for backend in sorted(set(backends.values())):
        mine = {name: run for name, run in runs.items() if backends[name] == backend}
        if mine:
            found.append(best(mine))
    return found


COLUMNS = (
    *("system", "instance", "value", "bound", "status", "gap, %", "s", "MB"),
    *("best plain", "value", "bound", "status", "gap, %", "s", "METIS", "lost"),
)


def main() -> None:
    """Do the runs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("systems", nargs="*")
    parser.add_argument("--time-limit", type=float, nargs="+", default=[10.0, 60.0])
    parser.add_argument("--count", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--public-only", action="store_true")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=Path("fresh_instances.jsonl"))
    given = parser.parse_args()
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    kept = [row_of(json.loads(line)) for line in lines]
    done = {(f"{row.system} {row.case}", row.limit_s): row for row in kept}
    with given.out.open("a") as out:
        for case in cases(given):
            for row in rows(case, given.time_limit, done):
                out.write(json.dumps(asdict(row)) + "\n")
                out.flush()
                print("|", " | ".join((f"{row.limit_s:g}", *row.cells())), "|", flush=True)
    report(given.out, given.time_limit)


def report(path: Path, limits_s: Sequence[float]) -> None:
    """Print a table for each time limit, of all rows that are kept."""
    kept = [row_of(json.loads(line)) for line in path.read_text().splitlines()]
    for limit_s in limits_s:
        mine = sorted((r for r in kept if r.limit_s == limit_s), key=lambda r: r.system)
        print(f"\n## {limit_s:g} s\n\n| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
        for row in mine:
            print("|", " | ".join(row.cells()), "|")
        closed = sum(row.default.closed for row in mine)
        lost = [row for row in mine if row.losses]
        print(f"\n{len(mine)} instances, {closed} closed by the default, {len(lost)} with a loss")


def row_of(saved: dict[str, Any]) -> Row:
    """Return a row as it was written."""
    runs = {k: None if saved[k] is None else Run(**saved[k]) for k in ("default", "theirs", "tool")}
    return Row(**{**saved, **runs, "losses": tuple(saved["losses"])})


if __name__ == "__main__":
    main()
