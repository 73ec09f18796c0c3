"""Processor time of a system's algorithm as its instances grow.

No study measures the least processor time of several repetitions, per job and per run.

Run `python benchmarks/scale.py sjf_bco`. It measures the whole method, the least of several
repetitions.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

from gadgetopt.models.sjf_bco.algorithms.sjf_bco import sjf_bco
from gadgetopt.models.sjf_bco.data.generate.presets import scale
from gadgetopt.models.sjf_bco.heuristics.load_limits import sjf_bco_sweep
from gadgetopt.system.result import Limits

SYSTEMS = ("sjf_bco",)
SEARCHES = {"literal": sjf_bco, "sweep": sjf_bco_sweep}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system", choices=SYSTEMS)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--searches", nargs="+", default=list(SEARCHES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repetitions", type=int, default=3)
    arguments = parser.parse_args()
    for search in arguments.searches:
        print(f"\n### SJF-BCO, theta search `{search}`\n")
        columns = "jobs servers GPUs runs s us/job its_ratio log_n_ratio us/job/run makespan"
        print("| " + columns.replace(" ", " | ").replace("_", " ") + " |")
        print("|---" * 10 + "|")
        before = None
        for n in arguments.jobs:
            seconds = math.inf
            for _ in range(arguments.repetitions):
                # A new instance each time, because an instance caches its computed rates.
                instance = scale(np.random.default_rng(arguments.seed), jobs=n)
                began = time.process_time()
                outcome = SEARCHES[search](instance, Limits())
                seconds = min(seconds, time.process_time() - began)
            per_job = 1e6 * seconds / n
            growth = "" if before is None else f"{per_job / before[1]:.2f}"
            log_growth = "" if before is None else f"{math.log(n) / math.log(before[0]):.2f}"
            print(
                f"| {n:,} | {len(instance.server_gpus):,} | {instance.total_gpus:,} "
                f"| {outcome.notes['runs']} | {seconds:.1f} | {per_job:.0f} | {growth} "
                f"| {log_growth} | {per_job / outcome.notes['runs']:.1f} "
                f"| {outcome.claimed_objective} |",
                flush=True,
            )
            before = (n, per_job)


if __name__ == "__main__":
    main()
