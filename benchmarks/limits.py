"""Whether any run of any method returns later than its time limit and the grace period.

No study measures from outside how long its runs keep their caller waiting.

A triple is a system, one of its presets up to the size of its paper, a method that is made for the
instance, and a time limit of half a second to eight. All are drawn at random from a seed. Each is
done three times: as by the command `solve`, in a process of its own that is watched, as by
`gadgetopt.solve` in Python, where a method has to heed its limit by itself, and by `compare`.

A run is late if its call returns more than the grace period and one second after the limit, by the
clock on the wall. Compiling of inner loops does not count, the start of a process does for `solve`
and `compare` and not for Python. Where the processor time of a late run, start included, is within
the same bounds, another process had the core, which the last column says. The processor time of
the first run of a loop has its compiling in it, so a run that is late by both is done again, once
what it needs is compiled, and counted as it is then.

Beside what is late, the table counts the runs that had to be stopped, which lose their solutions,
and those with an open gap and no limit named.

Run `python benchmarks/limits.py [--count 200] [--seed 0] [--only SYSTEM] [--hard]`; beside two
other busy processes the times are those of a loaded machine. `--hard` draws only exact methods and
relaxations, on instances of the size of the papers. It exits with 1 if a run was late.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from gadgetopt.numbers.compiling import compiling_s, listening
from gadgetopt.runs.comparison import compare
from gadgetopt.runs.engine.once import Once
from gadgetopt.runs.progress import Watch
from gadgetopt.search.alarm import default_grace_s
from gadgetopt.system.files import Document, read_instance, write
from gadgetopt.system.generation import Series, documents_of
from gadgetopt.system.methods import find_method, methods
from gadgetopt.system.registry import problem, problem_names
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.run import solve

#: Presets beyond the sizes of the papers.
TOO_LARGE = ("scale",)

LIMITS_S = (0.5, 1.0, 2.0, 4.0, 8.0)

#: Seconds beyond limit and grace at which a run is late.
LATE_S = 1.0

#: Seconds after which a run in Python is killed from here.
LONGEST_S = 300.0

Way = Literal["solve", "python", "compare"]

WAYS: tuple[Way, ...] = ("solve", "python", "compare")


@dataclass(frozen=True)
class Triple:
    """A method on an instance of a preset, with a time limit."""

    system: str
    preset: str
    seed: int
    method: str
    time_s: float

    @property
    def instance(self) -> Document:
        """The instance, made anew."""
        return next(documents_of(Series(system=self.system, preset=self.preset, seed=self.seed)))

    def __str__(self) -> str:
        return f"{self.system}:{self.preset}:{self.seed} {self.method} {self.time_s:g} s"


@dataclass(frozen=True)
class Run:
    """What became of a run.

    Attributes
    ----------
    wall_s, processor_s : float
        Until its call returned, without compiling; of the processor, compiling included.
    unnamed : bool
        True if a method that searches for the optimum left a gap and named no limit.
    """

    wall_s: float
    processor_s: float
    status: str
    limit_hit: str | None
    reason: str | None
    unnamed: bool
    judge_s: float

    @classmethod
    def of(cls, result: Result, wall_s: float, processor_s: float) -> Run:
        """Return what became of a run with a result."""
        unnamed = result.kind == "exact" and result.limit_hit is None and (result.gap or 0) > 0
        return cls(
            wall_s,
            processor_s,
            result.status.value,
            result.limit_hit,
            result.reason,
            unnamed and result.status.value == "feasible",
            result.phases_s.get("judge", 0.0),
        )

    @property
    def stopped(self) -> bool:
        """True if its process had to be stopped."""
        return self.reason is not None and self.limit_hit == "time_s"


def late_s(triple: Triple, seconds: float) -> float:
    """Return by how much a run exceeds its limit, the grace period and a second."""
    return seconds - triple.time_s - default_grace_s(triple.time_s) - LATE_S


def drawn(rng: random.Random, only: str | None, *, hard: bool = False) -> Iterator[Triple]:
    """Yield random triples without end; each system is as likely as the others."""
    names = [only] if only else problem_names()
    while True:
        declared = problem(rng.choice(names))
        presets = [g.name for g in declared.generators if g.name not in TOO_LARGE]
        able = [m.name for m in methods(declared) if not hard or m.kind in ("exact", "relaxation")]
        preset, method = "paper" if hard else rng.choice(presets), rng.choice(able)
        yield Triple(declared.name, preset, rng.randrange(100), method, rng.choice(LIMITS_S))


def done(way: Way, triple: Triple, path: Path) -> Run:
    """Do a run, again if the first may be late because its loops were compiled."""

    def once() -> Run:
        if way == "solve":
            return by_solve(triple, read_instance(path))
        return by_python(triple, path) if way == "python" else by_compare(triple, path)

    first = once()
    late = late_s(triple, min(first.wall_s, first.processor_s)) > 0
    return once() if late else first


def by_solve(triple: Triple, instance: Document) -> Run:
    """Do a run as the command `solve` does."""
    spent: list[float] = []

    def compiled(event: str, seconds: float) -> None:
        spent.append(seconds if event in ("read", "compiled") else 0.0)

    before, begin = processor_s(), time.perf_counter()
    with listening(compiled):
        once = Once(1, says=False)
        call = find_method(instance.problem, triple.method)
        made = once.solve(instance, call, Limits(time_s=triple.time_s), triple.seed)
    wall_s = time.perf_counter() - begin - sum(spent)
    return Run.of(made.result, wall_s, processor_s() - before)


def by_python(triple: Triple, path: Path) -> Run:
    """Do a run as `gadgetopt.solve` does, in a Python of its own."""
    asked = [sys.executable, __file__, "--one", json.dumps(asdict(triple)), "--file", str(path)]
    begin = time.perf_counter()
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=LONGEST_S, check=True)
    except subprocess.TimeoutExpired:
        wall_s = time.perf_counter() - begin
        return Run(wall_s, wall_s, "killed", None, f"was killed after {wall_s:.0f} s", False, 0.0)
    except subprocess.CalledProcessError as error:
        return Run(0.0, 0.0, "error", None, error.stderr.strip().split("\n")[-1], False, 0.0)
    return Run(**json.loads(done.stdout.strip().split("\n")[-1]))


def by_compare(triple: Triple, path: Path) -> Run:
    """Do a run as `compare` does, in a process that its client has started and watches."""
    watch, before, begin = Watch(), processor_s(), time.perf_counter()
    [entry] = compare(
        [path],
        [triple.method],
        limits=Limits(time_s=triple.time_s),
        first_seed=triple.seed,
        workers=1,
        details=False,
        watch=watch,
    )
    wall_s = time.perf_counter() - begin - watch.compiling_s
    return Run.of(entry.result, wall_s, processor_s() - before)


def one(triple: Triple, path: Path) -> None:
    """Do a run here and print what became of it."""
    instance = read_instance(path)
    used, begin = time.process_time(), time.perf_counter()
    result = solve(instance, triple.method, Limits(time_s=triple.time_s), triple.seed)
    wall_s = time.perf_counter() - begin - compiling_s()
    print(json.dumps(asdict(Run.of(result, wall_s, time.process_time() - used))))


def processor_s() -> float:
    """Return the processor time of the processes that were started from here and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def line(way: Way, triple: Triple, run: Run) -> str:
    """Return the row of a run."""
    marks = [
        "LATE" if late_s(triple, run.wall_s) > 0 else "",
        "by load" if late_s(triple, run.processor_s) <= 0 < late_s(triple, run.wall_s) else "",
        "stopped" if run.stopped else "",
        "no limit named" if run.unnamed else "",
    ]
    told = ", ".join(filter(None, marks))
    seconds = f"{run.wall_s:7.1f} {run.processor_s:7.1f} {run.judge_s:6.1f}"
    what = f"{run.status} {run.limit_hit or ''} {run.reason or ''}"[:90]
    return f"{way:7} {triple!s:70} {seconds}  {told:8} {what}"


def main() -> int:
    """Do the runs and print those that were late, and how many."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--hard", action="store_true", help="what proves, at the papers' sizes")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    given: Any = parser.parse_args()
    if given.one:
        one(Triple(**json.loads(given.one)), given.file)
        return 0
    print(f"{'way':7} {'instance, method, limit':70} {'wall':>7} {'cpu':>7} {'judge':>6}")
    runs: list[tuple[Way, Triple, Run]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "instance.json"
        triples = drawn(random.Random(given.seed), given.only, hard=given.hard)
        while len(runs) < len(WAYS) * given.count:
            triple = next(triples)
            write(triple.instance, path)
            watched = done("solve", triple, path)
            if watched.status == "not_applicable":
                continue
            for way in WAYS:
                run = watched if way == "solve" else done(way, triple, path)
                runs.append((way, triple, run))
                print(line(way, triple, run), flush=True)
    for way in WAYS:
        mine = [(triple, run) for how, triple, run in runs if how == way]
        late = [run for triple, run in mine if late_s(triple, run.wall_s) > 0]
        load = sum(late_s(t, r.processor_s) <= 0 < late_s(t, r.wall_s) for t, r in mine)
        stopped, unnamed = (sum(getattr(r, w) for _, r in mine) for w in ("stopped", "unnamed"))
        print(
            f"{way}: {len(mine)} runs, {len(late)} late ({load} by load), {stopped} stopped, "
            f"{unnamed} with an open gap and no limit named"
        )
    return int(any(late_s(triple, run.wall_s) > 0 for _, triple, run in runs))


if __name__ == "__main__":
    sys.exit(main())
