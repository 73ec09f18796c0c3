"""Processor time and size of the report page of 3,750 runs: 500 instances of two systems.

No study measures the page that reports one.

Run `python benchmarks/report.py [STORE]`. The store is filled first if it is not there, which takes
minutes: 250 small instances of SJF-BCO by eight methods and 250 of parallel machines by seven; one
run is made an error. `--profile` prints where the time goes.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import gadgetopt
from gadgetopt.reporting.html_report import write_report
from gadgetopt.runs.store import Store
from gadgetopt.system.generation import Series, write_series
from gadgetopt.system.result import Limits, Status

INSTANCES = 250
SERIES = {
    "sjf_bco": (
        "mini_paper",
        {"jobs": (4, 5, 6)},
        "sjf_bco,first_fit,list_scheduling,random_placement,lpt_ils:restarts=20,combinatorial,class_lp,cp_e_l2",
    ),
    "parallel_machines": (
        "paper",
        {"jobs": (80, 100)},
        "list_scheduling,lpt,multifit,differencing,local_search,combinatorial,dual_feasible",
    ),
}
LIMITS = Limits(time_s=2.0)


def fill(store: Path) -> None:
    """Solve the instances and store the runs; the last run is stored as an error."""
    with tempfile.TemporaryDirectory() as folder:
        for system, (preset, swept, methods) in SERIES.items():
            ((name, values),) = swept.items()
            files: list[Path] = []
            for k, value in enumerate(values):
                count = INSTANCES // len(values) + (k < INSTANCES % len(values))
                series = Series(system=system, preset=preset, count=count, options={name: value})
                files += write_series(series, Path(folder))
            gadgetopt.compare(files, methods.split(","), limits=LIMITS, store=store, workers=0)
    with Store(store) as runs:
        last = list(runs.runs())[-1]
        failed = replace(
            last.result, status=Status.ERROR, objective=None, bound=None, bound_voucher=None,
            gap=None, solution=None, evaluation=None, trace=(), reason="ended by signal SIGSEGV",
        )  # fmt: skip
        runs.add(replace(last, result=failed))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("store", nargs="?", type=Path)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = options.store or Path(folder) / "runs.sqlite"
        if not store.exists():
            fill(store)
        profile = cProfile.Profile()
        cpu, wall = time.process_time(), time.perf_counter()
        if options.profile:
            profile.enable()
        made = write_report(store, Path(folder) / "report.html")
        profile.disable()
        print(
            f"{made['runs']} runs, {made['pictures']} pictures: "
            f"{time.process_time() - cpu:.1f} s of processor time, "
            f"{time.perf_counter() - wall:.1f} s in all, {made['bytes'] / 1e6:.1f} MB"
        )
        if options.profile:
            pstats.Stats(profile).sort_stats("cumulative").print_stats(45)


if __name__ == "__main__":
    main()
