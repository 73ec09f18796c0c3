"""The default method of every system beside the best plain solver, preset by preset.

No study chooses the methods of a run by those before.

A plain solver is an exact formulation of the system given to HiGHS, CP-SAT or SCIP as it is, or an
exact model written for CP-SAT. Every method gets the same time limit, on the same instances.

All plain solvers take part on the first instance of a preset, those that find something there on
the second and third. On the others the default meets those only that were best on one of these
three: by value, then by a proof, then by time; at most one for each backend. Where the default has
a proof within half a second it cannot lose, and no plain solver follows.

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
from the store alone, and `--page docs/measurements/defaults.md` writes them into the page.
"""

from __future__ import annotations

import argparse
import re
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from defaults_losses import WAYS, Preset, plain_methods

import gadgetopt
from gadgetopt.runs.comparison import Entry
from gadgetopt.system.declaration import Problem
from gadgetopt.system.generation import Series, write_series
from gadgetopt.system.registry import problem, problems

#: Presets whose twenty instances take hours to make or to write as a plain model.
TOO_LARGE = ("scale",)

#: Instances of a preset on which every plain solver takes part.
FIRST = 3

REASONS = Path(__file__).with_suffix(".toml")


# -- what is run -----------------------------------------------------------------------------------


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
        if not paths or not methods:
            return []
        limit_s, store, workers = self.time_limit, self.store, self.workers
        return list(
            gadgetopt.compare(
                *(paths, methods), time_limit=limit_s, store=store, workers=workers,
                progress=False, details=False,
            )
        )  # fmt: skip

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
        for methods, names in alike(presets, lambda name: kept[name].solvers()):
            paths = [path for name in names for path in files[name][1:FIRST]]
            run(paths, [default, *(method for method in plain if method in methods)])
        run([path for name in presets for path in files[name][FIRST:]], [default])
        for methods, names in alike(presets, lambda name: kept[name].contenders()):
            paths = [path for name in names for path in files[name][FIRST:]]
            paths = [path for path in paths if kept[owners[path.stem]].can_lose(path.stem)]
            run(paths, [method for method in plain if method in methods])


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
            again = f"`python benchmarks/defaults.py {preset.spec}` measures them again."
            parts.append(f"**`{preset.spec}`.** {why} {again}\n\n{rows}")
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
