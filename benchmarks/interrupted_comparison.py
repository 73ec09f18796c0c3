"""A comparison of model files that is killed in the middle, taken up again, and loses nothing.

No study kills the process that runs it.

    python benchmarks/interrupted_comparison.py [--models 200] [--folder DIR]

Writes small random models as .mps files and compares HiGHS, CP-SAT and SCIP on them three times:
killed by SIGKILL once half of the runs are stored; the same command again; and without interruption
into another store. Prints a table of counts. The exit code is 1 if a stored run was done again, if
a row of the two stores differs in more than times, or if `summary` or `report` of them fails.
"""

from __future__ import annotations

import argparse
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.models.mip.data.generate.presets import fixed_charge, knapsack, set_cover
from gadgetopt.proofs.reading.writing.adapting import adapted
from gadgetopt.proofs.reading.writing.mps import MPS, mps

METHODS = "highs,cpsat,scip"
#: Columns of a store that say when a run was done, and how long it took.
TIMES = {"time_s", "phases_s", "trace", "finished_at", "position"}

Rows = dict[str, dict[str, Any]]


def main() -> int:
    """Run the comparisons and print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--models", type=int, default=200)
    options.add_argument("--folder", type=Path, default=None)
    given = options.parse_args()
    if given.folder is not None:
        given.folder.mkdir(parents=True)  # a new one: stores of earlier times would be taken up
        return tried(given.folder, given.models)
    with tempfile.TemporaryDirectory() as folder:
        return tried(Path(folder), given.models)


def tried(folder: Path, count: int) -> int:
    """Run everything in a folder, print the table, and return the exit code."""
    models, killed, whole = (folder / name for name in ("models", "killed.sqlite", "whole.sqlite"))
    write_models(models, count)
    kill_in_the_middle(models, killed, runs=3 * count)
    before = rows_of(killed)
    succeed(*comparing(models, killed))
    after = rows_of(killed)
    succeed(*comparing(models, whole))
    other = rows_of(whole)
    again = sum(after.get(key) != row for key, row in before.items())
    without_times = {key: timeless(row) for key, row in other.items()}
    different = [
        key for key in {*after, *other} if timeless(after.get(key)) != without_times.get(key)
    ]
    pages = [page for store in (killed, whole) for page in written_pages(store)]
    optimal = sum(row["status"] == "optimal" for row in after.values())
    not_applicable = sum(row["status"] == "not_applicable" for row in after.values())
    for what, number in [
        ("models", count),
        ("runs stored when killed", len(before)),
        ("runs stored after the second command", len(after)),
        ("of them optimal", optimal),
        ("of them not applicable: CP-SAT on continuous columns", not_applicable),
        ("stored runs that were done again", again),
        ("runs stored without interruption", len(other)),
        ("rows of the two stores that differ in more than times", len(different)),
        ("summaries and reports written, of 4", sum(page.stat().st_size > 0 for page in pages)),
    ]:
        print(f"{what:<56}{number:>6,}")
    complete = len(before) < len(after) == len(other) == 3 * count
    return 0 if complete and not again and not different else 1


def write_models(folder: Path, count: int) -> None:
    """Write set covers, knapsacks and fixed charges in turn."""
    folder.mkdir(exist_ok=True)
    for k in range(count):
        rng = np.random.default_rng(k)
        kinds = (
            lambda: set_cover(rng, sets=20, elements=15, density=0.2),  # noqa: B023 called here
            lambda: knapsack(rng, items=15, rows=3),  # noqa: B023
            lambda: fixed_charge(rng, plants=4, customers=6),  # noqa: B023
        )
        lines = mps(adapted(kinds[k % 3]().named, MPS))
        text = "".join(f"{line}\n" for line in lines)
        (folder / f"model{k:03}.mps").write_text(text, encoding="ascii")


def comparing(models: Path, store: Path) -> list[str]:
    """Return the command line of the comparison."""
    return ["compare", str(models), "--methods", METHODS, "--store", str(store), "--workers", "2"]


def command(arguments: Sequence[str]) -> list[str]:
    """Return a command of this package's."""
    return [sys.executable, "-m", "gadgetopt", *arguments]


def succeed(*arguments: str) -> None:
    """Run a command that has to succeed."""
    subprocess.run(command(arguments), check=True, stdout=subprocess.DEVNULL)


def kill_in_the_middle(models: Path, store: Path, runs: int) -> None:
    """Start the comparison, and kill it when half of its runs are stored."""
    with subprocess.Popen(command(comparing(models, store)), stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and stored(store) < runs // 2:
            time.sleep(0.1)
        process.kill()


def stored(store: Path) -> int:
    """Return how many runs a store holds that may not exist yet."""
    if not store.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM runs").fetchone()[0])
    except sqlite3.OperationalError:  # it is being created
        return 0


def rows_of(store: Path) -> Rows:
    """Return the rows of a store by key."""
    with closing(sqlite3.connect(store)) as connection:
        connection.row_factory = sqlite3.Row
        return {row["key"]: dict(row) for row in connection.execute("SELECT * FROM runs")}


def timeless(row: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a row without its times."""
    return row and {name: value for name, value in row.items() if name not in TIMES}


def written_pages(store: Path) -> list[Path]:
    """Return the summary and the report of a store, which are written beside it."""
    summary, report = store.with_suffix(".md"), store.with_suffix(".html")
    succeed("summary", str(store), "--format", "markdown", "--out", str(summary))
    succeed("report", str(store), "--out", str(report), "--pictures", "0")
    return [summary, report]


if __name__ == "__main__":
    sys.exit(main())
