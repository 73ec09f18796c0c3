"""The default method of every system beside the best plain solver, preset by preset.

A plain solver is an exact formulation of the system given to HiGHS, CP-SAT or SCIP as it is. Every
method gets the same time limit on the same instances, one run at a time. The first table has a row
for each preset; the second lists every instance on which a plain solver did better than the
default: a better value, a proof where the default has none, or a proof at least 1.5 times and 0.5 s
sooner.

The runs are kept in a store, so an interrupted table goes on where it was.

Run `python benchmarks/defaults.py [SYSTEM[:PRESET] ...] [--count 20] [--time-limit 10]
[--store defaults.sqlite]`. `--report` makes the tables from the store alone.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import gadgetopt
from gadgetopt.runs.comparison import Entry
from gadgetopt.system.declaration import Problem
from gadgetopt.system.generation import Series, write_series
from gadgetopt.system.registry import problem, problems
from gadgetopt.system.result import Result, Status

PLAIN_BACKENDS = ("highs", "cpsat", "scip")

#: Presets whose twenty instances take hours to make or to write as a plain model.
TOO_LARGE = ("scale",)

#: Values closer than this, relative, are equal.
SAME = 1e-7

#: A proof counts as sooner if it took less than this share, and this many seconds less.
SOONER, SOONER_S = 1 / 1.5, 0.5


@dataclass
class Preset:
    """The results of one preset, by instance and method."""

    system: Problem
    name: str
    results: dict[str, dict[str, Result]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def default(self) -> str:
        """The system's default method."""
        return self.system.default_method

    def best_plain(self) -> str | None:
        """Return the plain method that is best on most instances of the preset."""
        wins: dict[str, int] = defaultdict(int)
        for results in self.results.values():
            plain = [r for name, r in results.items() if name != self.default and solved(r)]
            if plain:
                wins[best(plain, self.system).method] += 1
        return max(wins, key=lambda name: wins[name]) if wins else None

    def row(self) -> list[str]:
        """Return the cells of the preset's row."""
        plain = self.best_plain()
        losses = sum(1 for _ in self.losses())
        cells = [f"`{self.system.name}:{self.name}`", str(len(self.results))]
        for method in (self.default, plain):
            mine = [r[method] for r in self.results.values() if method in r]
            closed = sum(r.status is Status.OPTIMAL for r in mine)
            behind = [self._behind(r) for r in mine]
            known = [b for b in behind if b is not None]
            found = f"{100 * sum(known) / len(known):.3f}" if known else "-"
            seconds = f"{sum(r.time_s for r in mine) / len(mine):.2f}" if mine else "-"
            cells += [f"`{method}`" if method else "-", f"{closed}/{len(mine)}", found, seconds]
        return [*cells, str(losses)]

    def _behind(self, result: Result) -> float | None:
        """Return how far a value is behind the best one of its instance, relative to that."""
        if result.objective is None:
            return None
        values = [r.objective for r in self.results[result.instance].values() if r.objective]
        top = float(max(values) if self.system.sense == "max" else min(values)) if values else 0.0
        return abs(float(result.objective) - top) / abs(top) if top else 0.0

    def losses(self) -> Iterator[list[str]]:
        """Yield a row for each instance on which a plain solver did better."""
        for instance, results in self.results.items():
            mine = results.get(self.default)
            others = [r for name, r in results.items() if name != self.default and solved(r)]
            if mine is None or not others:
                continue
            theirs = best(others, self.system)
            why = better(theirs, mine, self.system)
            if why:
                yield [
                    f"`{self.system.name}:{self.name}`",
                    instance,
                    *told(mine),
                    f"`{theirs.method}`",
                    *told(theirs),
                    why,
                ]


def solved(result: Result) -> bool:
    """Return True if a run gave a solution or a proof that there is none."""
    return result.objective is not None or result.status in {Status.INFEASIBLE, Status.UNBOUNDED}


def told(result: Result) -> list[str]:
    """Return value, status and seconds of a run as cells."""
    value = "-" if result.objective is None else f"{float(result.objective):.8g}"
    return [value, result.state, f"{result.time_s:.2f}"]


def proved(result: Result) -> bool:
    """Return True if a run ended with a proof."""
    return result.status in {Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED}


def beats(one: Result, other: Result, system: Problem) -> bool:
    """Return True if the first value is better than the second by more than rounding."""
    if one.objective is None or other.objective is None:
        return one.objective is not None
    first, second = float(one.objective), float(other.objective)
    ahead = first - second if system.sense == "max" else second - first
    return ahead > SAME * max(1.0, abs(second))


def better(one: Result, other: Result, system: Problem) -> str | None:
    """Return in what the first run is better than the second, None if in nothing."""
    if beats(other, one, system):
        return None
    if beats(one, other, system):
        return "value"
    if proved(one) and not proved(other):
        return "proof"
    much_sooner = one.time_s < SOONER * other.time_s and one.time_s < other.time_s - SOONER_S
    return "time" if proved(one) and much_sooner else None


def best(results: Iterable[Result], system: Problem) -> Result:
    """Return the run with the best value, then with a proof, then the quickest."""
    first, *rest = results
    for result in rest:
        sooner = proved(result) == proved(first) and result.time_s < first.time_s
        level = not beats(first, result, system) and not beats(result, first, system)
        if beats(result, first, system) or (level and (proved(result) > proved(first) or sooner)):
            first = result
    return first


def plain_methods(system: Problem) -> list[str]:
    """Return the plain solvers of a system: its exact formulations on each backend it lists."""
    return [
        f"{formulation.name}@{backend}"
        for formulation in system.formulations
        if formulation.strength == "exact" and formulation.decode is not None
        for backend in formulation.backends
        if backend in PLAIN_BACKENDS
    ]


def chosen(wanted: Sequence[str]) -> Iterator[tuple[Problem, str]]:
    """Yield the systems and presets that are asked for, all if none is."""
    for system in problems():
        for generator in system.generators:
            name = f"{system.name}:{generator.name}"
            if wanted and system.name not in wanted and name not in wanted:
                continue
            if generator.name in TOO_LARGE and name not in wanted:
                continue
            yield system, generator.name


def run(wanted: Sequence[str], count: int, time_limit: float, store: Path) -> None:
    """Do the runs that the store lacks."""
    folder = store.with_suffix("")
    for system, name in chosen(wanted):
        series = Series(system=system.name, preset=name, count=count)
        paths = write_series(series, folder / system.name / name)
        methods = [system.default_method, *plain_methods(system)]
        gadgetopt.compare(
            paths, methods, time_limit=time_limit, store=store, workers=1, progress=False
        )
        print(f"{system.name}:{name} done", flush=True)


def presets_of(entries: Iterable[Entry], wanted: Sequence[str]) -> list[Preset]:
    """Return the runs of a store by preset."""
    asked = [(system.name, name) for system, name in chosen(wanted)]
    out: dict[tuple[str, str], Preset] = {}
    for entry in entries:
        for origin in entry.stored.origins if entry.stored else ():
            key = (entry.result.problem, str(origin.preset))
            if key in asked:
                preset = out.setdefault(key, Preset(problem(key[0]), key[1]))
                preset.results[entry.result.instance][entry.result.method] = entry.result
    return [out[key] for key in asked if key in out]


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table in Markdown."""
    print(f"\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for row in rows:
        print(f"| {' | '.join(row)} |")


METHOD_COLUMNS = ("closed", "behind %", "s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wanted", nargs="*", metavar="SYSTEM[:PRESET]")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--time-limit", type=float, default=10.0)
    parser.add_argument("--store", type=Path, default=Path("defaults.sqlite"))
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    if not arguments.report:
        run(arguments.wanted, arguments.count, arguments.time_limit, arguments.store)
    presets = presets_of(gadgetopt.ratios(arguments.store), arguments.wanted)
    columns = ("preset", "instances", "default", *METHOD_COLUMNS, "plain", *METHOD_COLUMNS)
    print_table((*columns, "losses"), (preset.row() for preset in presets))
    columns = ("preset", "instance", "value", "state", "s", "plain", "value", "state", "s")
    print_table((*columns, "better in"), (row for preset in presets for row in preset.losses()))


if __name__ == "__main__":
    main()
