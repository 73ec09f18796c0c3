"""The default method of every system beside the best plain solver, preset by preset.

A plain solver is an exact formulation of the system given to HiGHS, CP-SAT or SCIP as it is, or an
exact model written for CP-SAT. Every method gets the same time limit, on the same instances.

All plain solvers take part on the first three instances of a preset. On the others the default
meets those only that were best on one of these three: by value, then by a proof, then by time; at
most one for each backend. A plain solver that had to be ended on the first instance, because its
model alone takes longer than the limit, is left out of the second and third.

The first table has a row for each preset. The second lists every instance on which a plain solver
did better than the default: a better value; a proof where the default has none; a bound that is
better by 0.1 % where the values are equal and neither has a proof; or a proof at least 1.5 times
and 0.5 s sooner. The sentences that explain them are read from `defaults.toml`. Seconds are by the
clock, as those of the time limit are: nothing else should run beside it. Imports and the
compilation of loops do not count.

The runs are kept in a store, so an interrupted table goes on where it was, and systems can be run
one by one into the same store.

Run `python benchmarks/defaults.py [SYSTEM[:PRESET] ...] [--count 20] [--time-limit 3] [--workers 2]
[--store defaults.sqlite]`, where every worker needs a core of its own. `--report` makes the tables
from the store alone, and `--page docs/defaults.md` writes them into the page.
"""

from __future__ import annotations

import argparse
import re
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import gadgetopt
from gadgetopt.runs.comparison import Entry
from gadgetopt.system.declaration import Method, Problem, Reference
from gadgetopt.system.generation import Series, write_series
from gadgetopt.system.registry import problem, problems
from gadgetopt.system.result import Result, Status

PLAIN_BACKENDS = ("highs", "cpsat", "scip")

#: Presets whose twenty instances take hours to make or to write as a plain model.
TOO_LARGE = ("scale",)

#: Instances of a preset on which every plain solver takes part.
FIRST = 3

#: Values closer than this, relative, are equal.
SAME = 1e-7

#: A bound is better if it is by this, relative to the value.
TIGHTER = 1e-3

#: A proof counts as sooner if it took less than this share, and this many seconds less.
SOONER, SOONER_S = 1 / 1.5, 0.5

#: In what a run can be better than another, the most important first.
WAYS = ("value", "proof", "bound", "time")

REASONS = Path(__file__).with_suffix(".toml")


@dataclass
class Preset:
    """The results of one preset, by instance and method."""

    system: Problem
    name: str
    results: dict[str, dict[str, Result]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def spec(self) -> str:
        """The preset as the command line writes it."""
        return f"{self.system.name}:{self.name}"

    @property
    def default(self) -> str:
        """The system's default method."""
        return self.system.default_method

    def plain(self, instance: str) -> list[Result]:
        """Return what plain solvers found on an instance."""
        found = self.results[instance]
        return [r for name, r in found.items() if name != self.default and solved(r)]

    def wins(self) -> Counter[str]:
        """Return on how many instances each plain method is the best of them."""
        runs = [self.plain(instance) for instance in self.results]
        return Counter(best(found, self.system).method for found in runs if found)

    def contenders(self) -> list[str]:
        """Return the plain methods that are best on an instance, at most one for each backend."""
        chosen: dict[str, str] = {}
        for name, _ in self.wins().most_common():
            chosen.setdefault(backend_of(self.system, name), name)
        return list(chosen.values())

    def ended(self) -> set[str]:
        """Return the methods that had to be ended from outside."""
        found = [r for results in self.results.values() for r in results.values()]
        return {r.method for r in found if r.status is Status.ERROR and r.limit_hit == "time_s"}

    def row(self) -> list[str]:
        """Return the cells of the preset's row."""
        wins = self.wins().most_common(1)
        plain = wins[0][0] if wins else None
        lost = Counter(loss.way for loss in self.losses())
        cells = [f"`{self.spec}`", str(len(self.results))]
        for method in (self.default, plain):
            cells += [f"`{method}`" if method else "-", *self._measured(method)]
        return [*cells, *(str(lost[way]) for way in WAYS)]

    def _measured(self, method: str | None) -> list[str]:
        """Return proofs, mean distance from the best value, and mean seconds of a method."""
        mine = [r[method] for r in self.results.values() if method in r]
        if not mine:
            return ["-"] * 3
        closed = sum(proved(r) for r in mine)
        known = [b for b in map(self._behind, mine) if b is not None]
        behind = f"{100 * sum(known) / len(known):.3f}" if known else "-"
        return [f"{closed}/{len(mine)}", behind, f"{sum(r.time_s for r in mine) / len(mine):.2f}"]

    def _behind(self, result: Result) -> float | None:
        """Return how far a value is behind the best one of its instance, relative to that."""
        if result.objective is None:
            return None
        found = [r.objective for r in self.results[result.instance].values()]
        values = [float(value) for value in found if value is not None]
        top = max(values) if self.system.sense == "max" else min(values)
        return abs(float(result.objective) - top) / abs(top) if top else 0.0

    def losses(self) -> Iterator[Loss]:
        """Yield the instances on which a plain solver did better."""
        for instance, results in self.results.items():
            mine, others = results.get(self.default), self.plain(instance)
            if mine is None or not others:
                continue
            theirs = best(others, self.system)
            way = better(theirs, mine, self.system)
            if way:
                yield Loss(self, instance, way, mine, theirs)


@dataclass(frozen=True)
class Loss:
    """An instance on which a plain solver did better, and in what."""

    preset: Preset
    instance: str
    way: str
    mine: Result
    theirs: Result

    def row(self) -> list[str]:
        """Return the cells of its row."""
        name = self.instance.removeprefix(f"{self.preset.system.name}_{self.preset.name}_")
        method = f"`{self.theirs.method}`"
        return [self.way, f"`{name}`", *told(self.mine), method, *told(self.theirs)]


# -- which run is better ---------------------------------------------------------------------------


def solved(result: Result) -> bool:
    """Return True if a run gave a solution or a proof that there is none."""
    return result.objective is not None or proved(result)


def proved(result: Result) -> bool:
    """Return True if a run ended with a proof."""
    return result.status in {Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED}


def told(result: Result) -> list[str]:
    """Return value, bound, status and seconds of a run as cells."""
    numbers = (result.objective, result.bound)
    cells = ["-" if value is None else f"{float(value):.8g}" for value in numbers]
    return [*cells, result.state, f"{result.time_s:.2f}"]


def beats(one: Result, other: Result, system: Problem) -> bool:
    """Return True if the first value is better than the second by more than rounding."""
    if one.objective is None or other.objective is None:
        return one.objective is not None
    first, second = float(one.objective), float(other.objective)
    ahead = first - second if system.sense == "max" else second - first
    return ahead > SAME * max(1.0, abs(second))


def tighter(one: Result, other: Result, system: Problem) -> bool:
    """Return True if the first bound is better than the second, where the values are equal."""
    if one.bound is None or other.bound is None or one.objective is None:
        return one.bound is not None and other.bound is None
    first, second = float(one.bound), float(other.bound)
    ahead = second - first if system.sense == "max" else first - second
    return ahead > TIGHTER * abs(float(one.objective))


def better(one: Result, other: Result, system: Problem) -> str | None:
    """Return in what the first run is better than the second, None if in nothing."""
    if beats(other, one, system):
        return None
    if beats(one, other, system):
        return "value"
    if proved(one) != proved(other):
        return "proof" if proved(one) else None
    if not proved(one):
        return "bound" if tighter(one, other, system) else None
    sooner = one.time_s < SOONER * other.time_s and one.time_s < other.time_s - SOONER_S
    return "time" if sooner else None


def best(results: Iterable[Result], system: Problem) -> Result:
    """Return the run with the best value, then with a proof, then the quickest."""
    first, *rest = results
    for result in rest:
        sooner = proved(result) == proved(first) and result.time_s < first.time_s
        level = not beats(first, result, system) and not beats(result, first, system)
        if beats(result, first, system) or (level and (proved(result) > proved(first) or sooner)):
            first = result
    return first


# -- what is run -----------------------------------------------------------------------------------


def is_model(method: Method) -> bool:
    """Return True if a method is a model written for CP-SAT, without anything around it."""
    folder = method.run.package if isinstance(method.run, Reference) else method.run.__module__
    rooms = folder.split(".")
    return method.kind == "exact" and method.backend in PLAIN_BACKENDS and "formulations" in rooms


def plain_methods(system: Problem) -> dict[str, str]:
    """Return the plain solvers of a system with their backends."""
    by_backend = {
        f"{formulation.name}@{backend}": backend
        for formulation in system.formulations
        if formulation.strength == "exact" and formulation.decode is not None
        for backend in formulation.backends
        if backend in PLAIN_BACKENDS
    }
    models = {method.name: str(method.backend) for method in system.methods if is_model(method)}
    return {**by_backend, **models}


def backend_of(system: Problem, name: str) -> str:
    """Return the backend of a plain method."""
    return plain_methods(system)[name]


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


@dataclass(frozen=True)
class Runs:
    """How runs are done: how many instances, how long, how many at a time, and where they go."""

    count: int
    time_limit: float
    workers: int
    store: Path

    def compare(self, paths: Sequence[Path], methods: Sequence[str]) -> list[Entry]:
        """Do the runs that the store lacks; return all of these."""
        if not paths:
            return []
        return list(
            gadgetopt.compare(
                paths,
                methods,
                time_limit=self.time_limit,
                store=self.store,
                workers=self.workers,
                progress=False,
                details=False,
            )
        )

    def files(self, system: Problem, preset: str) -> list[Path]:
        """Return the files of a preset's instances, written if they are missing."""
        series = Series(system=system.name, preset=preset, count=self.count)
        return write_series(series, self.store.with_suffix("") / system.name / preset)

    def system(self, system: Problem, presets: Sequence[str]) -> None:
        """Do the runs of a system."""
        files = {name: self.files(system, name) for name in presets}
        kept: dict[str, Preset] = {name: Preset(system, name) for name in presets}
        owners = {path.stem: name for name, paths in files.items() for path in paths}

        def run(paths: Sequence[Path], methods: Sequence[str]) -> None:
            for entry in self.compare(paths, methods):
                result = entry.result
                kept[owners[result.instance]].results[result.instance][result.method] = result

        default, plain = system.default_method, list(plain_methods(system))
        run([paths[0] for paths in files.values()], [default, *plain])
        for methods, names in alike(presets, lambda name: set(plain) - kept[name].ended()):
            paths = [path for name in names for path in files[name][1:FIRST]]
            run(paths, [default, *(name for name in plain if name in methods)])
        for methods, names in alike(presets, lambda name: kept[name].contenders()):
            paths = [path for name in names for path in files[name][FIRST:]]
            run(paths, [default, *(name for name in plain if name in methods)])


def alike(
    names: Sequence[str], methods_of: Callable[[str], Iterable[str]]
) -> list[tuple[frozenset[str], list[str]]]:
    """Return the presets that are to be run with the same methods, by these methods."""
    groups: dict[frozenset[str], list[str]] = defaultdict(list)
    for name in names:
        groups[frozenset(methods_of(name))].append(name)
    return list(groups.items())


# -- the tables ------------------------------------------------------------------------------------


def presets_of(entries: Iterable[Entry], wanted: Sequence[str], limit_s: float) -> list[Preset]:
    """Return the runs of a store by preset; of several runs of a method the last."""
    asked = [(system.name, name) for system, name in chosen(wanted)]
    out: dict[tuple[str, str], Preset] = {}
    for entry in entries:
        if entry.limits.time_s != limit_s:
            continue
        result = entry.result
        for origin in entry.stored.origins if entry.stored else ():
            key = (result.problem, str(origin.preset))
            if key in asked:
                preset = out.setdefault(key, Preset(problem(key[0]), key[1]))
                preset.results[result.instance][result.method] = result
    return [out[key] for key in asked if key in out]


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *lines])


def summary(presets: Sequence[Preset]) -> str:
    """Return the sentence above the tables."""
    count = sum(len(preset.results) for preset in presets)
    lost = Counter(loss.way for preset in presets for loss in preset.losses())
    ways = ", ".join(f"{lost[way]} in {way}" for way in WAYS)
    return f"{count} instances of {len(presets)} presets; the default loses {ways}."


def preset_table(presets: Sequence[Preset]) -> str:
    """Return the table with a row for each preset."""
    measured = ("closed", "behind %", "s")
    columns = ("preset", "instances", "default", *measured, "best plain", *measured)
    return table((*columns, *(f"lost: {way}" for way in WAYS)), (p.row() for p in presets))


def loss_tables(presets: Sequence[Preset], reasons: Mapping[str, str]) -> str:
    """Return the losses by preset, each with the sentence that explains it."""
    columns = ("lost in", "instance", "default", "bound", "state", "s")
    columns = (*columns, "plain", "value", "bound", "state", "s")
    parts = []
    for preset in presets:
        losses = sorted(preset.losses(), key=lambda loss: WAYS.index(loss.way))
        if losses:
            why = reasons.get(preset.spec) or reasons.get(preset.system.name) or "Not explained."
            rows = table(columns, (loss.row() for loss in losses))
            parts.append(f"**`{preset.spec}`.** {why}\n\n{rows}")
    return "\n\n".join(parts) or "None."


def write_page(page: Path, parts: Mapping[str, str]) -> None:
    """Put every part between the comments of a page that name it."""
    text = page.read_text()
    for name, part in parts.items():
        marks = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
        text, found = marks.subn(lambda m, part=part: f"{m[1]}\n{part}\n{m[2]}", text)
        if not found:
            raise SystemExit(f"{page}: has no comments <!-- {name} --> and <!-- /{name} -->")
    page.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wanted", nargs="*", metavar="SYSTEM[:PRESET]")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--time-limit", type=float, default=3.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--store", type=Path, default=Path("defaults.sqlite"))
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    runs = Runs(given.count, given.time_limit, given.workers, given.store)
    by_system: dict[str, list[str]] = defaultdict(list)
    for system, name in chosen(given.wanted):
        by_system[system.name].append(name)
    for name, presets in by_system.items() if not given.report else ():
        began = time.perf_counter()
        runs.system(problem(name), presets)
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    found = presets_of(gadgetopt.ratios(given.store), given.wanted, given.time_limit)
    reasons = tomllib.loads(REASONS.read_text())
    parts = {
        "summary": summary(found),
        "presets": preset_table(found),
        "losses": loss_tables(found, reasons),
    }
    print("\n", "\n\n".join(parts.values()), sep="")
    if given.page:
        write_page(given.page, parts)


if __name__ == "__main__":
    main()
