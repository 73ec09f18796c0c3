"""What half and twice the value of every tuned constant would do, on small instances.

No study changes a constant of the library's own modules.

A constant is tuned if the comment about it says so and names this script; the others are numbers of
a paper, a format or mathematics, limits of memory, which follow from one budget
(`gadgetopt/numbers/memory.py`), or tuned by a script of their own.

All methods run on their system's quickstart instance, and each run tells which constants it reads.
For every tuned constant one of the runs that read it is done again with half and with twice its
value: the longest of at most 0.1 s of the processor, or else the shortest. Value, bound, status and
voucher count as changed where they differ from those of two usual runs by more than these differ,
processor time where it is 1.5 times as long or as short and differs by 0.05 s. Larger instances may
show effects that these do not.

Runs are kept in a file of JSON lines, so an interrupted campaign goes on where it was.

Run `python benchmarks/constants.py [SYSTEM ...] [--store constants.jsonl] [--report]
[--page docs/measurements/constants.md] [--loops]`. Without systems, all are run, and then the
toolkit's constants are varied; `--report` runs nothing and writes the tables of what is in the
store. Constants of compiled loops are varied only with `--loops`: each time the loops are compiled
anew, which takes minutes.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path

from constants_read import ROOT, Constant, Reading, all_constants, sources, value_of
from constants_runs import Outcome, import_all, run, scaled

SCRIPT = "benchmarks/constants.py"

#: Seconds of the processor that the run with which a constant is tried may take.
RUN_S = 0.1

#: How much longer or shorter a run must be, as a factor and in seconds, to be told.
FACTOR, LEAST_S = 1.5, 0.05

FACTORS = ("half", "twice")
NOT_YET = "not yet measured"


@dataclass(frozen=True)
class Run:
    """A method on the quickstart instance of a system."""

    system: str
    method: str

    def __str__(self) -> str:
        return f"{self.system} {self.method}"


@dataclass
class Store:
    """Runs that were done, in a file of JSON lines.

    Attributes
    ----------
    usual : dict
        Outcomes of runs without a change, in the order in which they were done.
    varied : dict
        Outcomes with another value, by key and text of the constant, factor and run.
    """

    path: Path
    usual: dict[Run, list[Outcome]] = field(default_factory=lambda: defaultdict(list))
    varied: dict[tuple[str, str, str, Run], Outcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        for line in lines:
            self._take(json.loads(line))

    def _take(self, row: dict[str, object]) -> None:
        outcome = dict(row["outcome"])  # type: ignore[call-overload]
        made = Outcome(**{**outcome, "reads": tuple(outcome["reads"])})
        which = Run(*row["run"])  # type: ignore[misc]
        if "key" in row:
            self.varied[str(row["key"]), str(row["text"]), str(row["factor"]), which] = made
        else:
            self.usual[which].append(made)

    def add(self, which: Run, outcome: Outcome, **more: str) -> None:
        """Keep the outcome of a run."""
        told = asdict(outcome)
        if more:
            told["reads"] = ()
        row = {"run": [which.system, which.method], **more, "outcome": told}
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        self._take(row)

    def run_of(self, key: str) -> Run | None:
        """Return the run with which a constant is tried, None if none reads it.

        That of the table, if it was tried before, or the longest that is short enough.
        """
        for tried, _, _, which in self.varied:
            if tried == key:
                return which
        left = [
            (usual[0].seconds, str(run), run)
            for run, usual in self.usual.items()
            if key in usual[0].reads and usual[0].status not in ("ended", "error")
        ]
        short = [x for x in left if x[0] <= RUN_S]
        return max(short)[2] if short else min(left)[2] if left else None


# -- the campaign ----------------------------------------------------------------------------------


def instance_of(system: str) -> Path:
    """Return the file of a system's instance."""
    return ROOT / "instances" / "quickstart" / f"{system}.json"


def methods_of(system: str, *, default: bool) -> list[str]:
    """Return the methods that `compare` runs by default, or the others."""
    from gadgetopt.system.methods import methods
    from gadgetopt.system.registry import problem

    declared = problem(system)
    usual = declared.default_methods
    return [m.name for m in methods(declared) if (m.name in usual) == default]


@dataclass
class Campaign:
    """Runs of systems, and of their constants with other values: of loops only if asked."""

    store: Store
    reading: Reading
    loops: bool = False

    def usual(self, system: str, *, default: bool) -> None:
        """Do the runs of a system without a change."""
        for method in methods_of(system, default=default):
            if Run(system, method) not in self.store.usual:
                self.run(Run(system, method))

    def run(self, which: Run, constant: Constant | None = None, factor: str = "") -> None:
        """Do a run, with half or twice the value of a constant, and keep it."""
        path = str(instance_of(which.system))
        if constant is None:
            self.store.add(which, run(path, which.method, self.reading))
            return
        value = value_of(constant.text)
        other = scaled(value, 2, half=factor == "half")
        row = {"key": constant.key, "text": constant.text, "factor": factor}
        if other != value and (*row.values(), which) not in self.store.varied:
            self.store.add(which, run(path, which.method, self.reading, constant, other), **row)

    def vary(self, constants: Iterable[Constant]) -> None:
        """Run what reads some constants with half and twice their values."""
        for constant in constants:
            which = self.store.run_of(constant.key)
            if which is not None and (self.loops or constant.key not in self.reading.loops):
                if len(self.store.usual[which]) < 2:
                    self.run(which)
                for factor in FACTORS:
                    self.run(which, constant, factor)


def campaign(store: Store, wanted: Sequence[str], *, loops: bool) -> None:
    """Do what is missing of the campaign: first with the default methods, then with the others."""
    reading = Reading(sources())
    import_all(reading, ROOT)
    from gadgetopt.system.registry import problem_names

    doing = Campaign(store, reading, loops)
    tuned = [c for c in all_constants() if c.kind == SCRIPT]
    for default in (True, False):
        for system in wanted or problem_names():
            doing.usual(system, default=default)
            doing.vary(c for c in tuned if c.file[0] == "m" and system in systems_of(place_of(c)))
            print(system, "default methods" if default else "all methods", flush=True)
        doing.vary(tuned if not wanted else ())


# -- the table -------------------------------------------------------------------------------------


def number(text: str | None) -> float | None:
    """Return a number that was kept as text."""
    return None if text is None else float(value_of(f"Fraction('{text}')"))


def moved(name: str, usual: Sequence[str | None], now: str | None) -> str:
    """Return what is to be said of a value or a bound, nothing where it is as usual."""
    if now in usual:
        return ""
    before = [number(x) for x in usual]
    after = number(now)
    if after is None or None in before:
        return f"{name} {shown(usual[0])} → {shown(now)}"
    known = [x for x in before if x is not None]
    noise = max(known) - min(known) + 1e-9 * max(map(abs, [*known, after]))
    if min(known) - noise <= after <= max(known) + noise:
        return ""
    return f"{name} {shown(usual[0])} → {shown(now)}"


def shown(text: str | None) -> str:
    """Return a number with six digits."""
    return "none" if text is None else f"{number(text):.6g}"


def changes(usual: Sequence[Outcome], now: Outcome, *, timed: bool) -> list[str]:
    """Return what another value changed."""
    if now.status.startswith("not varied"):
        return [now.status]
    if now.status != usual[0].status and now.status not in {x.status for x in usual}:
        said = "takes over 1 s" if now.status == "ended" else now.status.replace("_", " ")
        return [f"{usual[0].status.replace('_', ' ')} → {said}"]
    told = [
        moved("value", [x.value for x in usual], now.value),
        moved("bound", [x.bound for x in usual], now.bound),
    ]
    if now.voucher not in {x.voucher for x in usual} and now.bound is not None:
        told.append(f"voucher {usual[0].voucher or 'none'} → {now.voucher or 'none'}")
    times = [x.seconds for x in usual]
    longer = now.seconds > FACTOR * max(times) and now.seconds - max(times) > LEAST_S
    shorter = now.seconds * FACTOR < min(times) and min(times) - now.seconds > LEAST_S
    if timed and (longer or shorter):
        told.append(f"time × {now.seconds / (sum(times) / len(times)):.2g}")
    return [x for x in told if x]


def cell(store: Store, constant: Constant, factor: str, which: Run, timed: bool) -> str:
    """Return what the table says of half or twice a value."""
    value = value_of(constant.text)
    if scaled(value, 2, half=factor == "half") == value:
        return "the same"
    made = store.varied.get((constant.key, constant.text, factor, which))
    if made is None or len(store.usual[which]) < 2:
        return NOT_YET
    return "; ".join(changes(store.usual[which], made, timed=timed)) or "no effect"


def unread(store: Store, systems: Iterable[str]) -> str:
    """Return what is said of a constant that no run of some systems has read so far."""
    said = ("not read on these instances", "not read by default methods", NOT_YET)
    for part in (True, False):
        runs = [Run(x, method) for x in systems for method in methods_of(x, default=part)]
        if not all(which in store.usual for which in runs):
            return said[2 if part else 1]
    return said[0]


def rows(store: Store, constants: Iterable[Constant], reading: Reading) -> Iterator[list[str]]:
    """Yield the rows of a table."""
    for constant in constants:
        which, held = store.run_of(constant.key), constant.key in reading.loops
        start = [f"`{constant.file.rpartition('/')[2]}` `{constant.name}`", f"`{constant.text}`"]
        if which is None:
            yield [*start, unread(store, systems_of(place_of(constant))), "", ""]
            continue
        cells = [cell(store, constant, factor, which, not held) for factor in FACTORS]
        if held:
            cells = ["in compiled loops" if x == NOT_YET else x for x in cells]
        yield [*start, *cells, str(which) + ", times not compared" * held]


def table(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    body = [f"| {' | '.join(x.replace('|', '/') for x in row)} |" for row in lines]
    return "\n".join([f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *body])


def place_of(constant: Constant) -> str:
    """Return the part of the library under which a constant is listed."""
    parts = constant.file.split("/")
    return "/".join(parts[: 3 if parts[1] in ("pieces", "adsp", "bgl", "marl") else 2])


def systems_of(place: str) -> list[str]:
    """Return the systems whose runs read the constants of a part of the library."""
    from gadgetopt.system.registry import problems

    packages = {p.name: p.package.removeprefix("gadgetopt.").replace(".", "/") for p in problems()}
    if place.startswith("gadgetopt"):
        return list(packages)
    inside = [name for name, package in packages.items() if package.startswith(place)]
    family = "/".join(place.split("/")[:2])
    return inside or [name for name, package in packages.items() if package.startswith(family)]


def report(store: Store) -> dict[str, str]:
    """Return the parts of the page."""
    found, reading = all_constants(), Reading(sources())
    tuned = [c for c in found if c.kind == SCRIPT]
    columns = ("constant", "value", "half", "twice", "run")
    groups: dict[str, list[Constant]] = defaultdict(list)
    for constant in tuned:
        groups[place_of(constant)].append(constant)
    tables, count = [], Counter[str]()
    for place, constants in groups.items():
        lines = list(rows(store, constants, reading))
        count.update(map(outcome_of, lines))
        named = systems_of(place) if place.startswith("models") else []
        again = " ".join([f"`python {SCRIPT}", *named]) + "`"
        tables.append(f"## {place}\n\n{again}\n\n{table(columns, lines)}")
    import gadgetopt

    kinds = Counter(c.kind or "no kind" for c in found)
    said = ", ".join(f"{n} {kind}" for kind, n in sorted(count.items()))
    own = ", ".join(f"{n} by `{k}`" for k, n in kinds.items() if k.startswith("bench"))
    return {
        "summary": f"Written on {date.today().isoformat()} with version {gadgetopt.__version__}: "
        f"{len(found)} numeric constants, {kinds['definition']} by definition; tuned: {own}. "
        f"Of those of this page: {said}.",
        "tables": "\n\n".join(tables),
    }


def outcome_of(row: Sequence[str]) -> str:
    """Return under what a row is counted."""
    if row[2].startswith("not"):
        return row[2].split(" (")[0].split(":")[0]
    cells = {x for x in row[2:4] if x not in ("no effect", "the same")}
    if NOT_YET in cells or "in compiled loops" in cells:
        return NOT_YET if NOT_YET in cells else "in compiled loops, not varied"
    return "with an effect" if cells else "without one"


def write_page(page: Path, parts: dict[str, str]) -> None:
    """Put every part between the comments of the page that name it."""
    text = page.read_text()
    for name, part in parts.items():
        marks = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
        text = marks.sub(lambda m, part=part: f"{m[1]}\n{part}\n{m[2]}", text)
    page.write_text(text)


def main() -> None:
    """Do the runs that are missing; write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("wanted", nargs="*", metavar="SYSTEM")
    parser.add_argument("--store", type=Path, default=Path("constants.jsonl"))
    parser.add_argument("--loops", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    store = Store(given.store)
    if not given.report:
        campaign(store, given.wanted, loops=given.loops)
    parts = report(store)
    if given.page:
        write_page(given.page, parts)
    else:
        print(*parts.values(), sep="\n\n")


if __name__ == "__main__":
    main()
