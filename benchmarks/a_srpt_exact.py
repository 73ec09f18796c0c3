"""A-SRPT: the exact method beside plain CP-SAT and plain HiGHS.

`python benchmarks/a_srpt.py exact [--count 2] [--limit 20]`

Rows: (F) on four servers of four GPUs, and (P), rigid jobs in a pool of 32 GPUs at load 2.5. For
each size, the first `--count` seeds. Columns: CPU seconds of `decomposition` with the step that
closed the gap, of `cp_configurations` (model A, or one cumulative constraint) and of
`time_indexed@highs`, both with `--limit`; a gap or the reason is given where an optimum is not
proved. `prototype` is the range of seconds that a prototype of the same idea, without prices, took
at this size, on a shared machine. One thread; CPU seconds, so that other processes count little.
Limits are wall-clock seconds, 240 of `decomposition`.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from gadgetopt.models.a_srpt import PROBLEM
from gadgetopt.models.a_srpt.generate.presets import pool
from gadgetopt.models.a_srpt.generate.random_jobs import random_instance
from gadgetopt.models.a_srpt.instance import ASrptInstance

from gadgetopt.system.files import Document
from gadgetopt.system.result import Limits, Result, Status
from gadgetopt.trust.run import solve

#: Seconds of the prototype: problem, jobs, range.
ROWS = (
    ("F", 24, "6-58"),
    ("F", 32, "12-68"),
    ("P", 20, "0.4-1.3"),
    ("P", 30, "5-12"),
    ("P", 40, "69-100"),
)
PLAIN = ("cp_configurations", "time_indexed@highs")
OWN_LIMIT_S = 240.0


def drawn(problem: str, jobs: int, seed: int) -> ASrptInstance:
    """Draw an instance of a row."""
    rng = np.random.default_rng(seed)
    if problem == "P":
        return pool(rng, jobs=jobs)
    return random_instance(
        rng,
        jobs=jobs,
        servers=4,
        gpus_per_server=4,
        load=2.0,
        largest_job_gpus=8,
        fewest_iterations=100,
        most_iterations=2000,
        tick_s=60,
    )


def timed(document: Document, method: str, limit_s: float) -> tuple[Result, str]:
    """Return the result, and CPU seconds, with the gap where the optimum is not proved."""
    begin = time.process_time()
    result = solve(document, method, Limits(time_s=limit_s))
    seconds = f"{time.process_time() - begin:.1f}"
    if result.status is Status.OPTIMAL:
        return result, seconds
    if result.gap is not None:
        return result, f"{seconds} (gap {100 * result.gap:.1f} %)"
    return result, f"{seconds} ({'refused' if result.refused else 'no schedule'})"


def exact(options: argparse.Namespace) -> None:
    """Print the table, a line when it is known."""
    print("| problem | jobs | seed | optimum | decomposition | prototype | CP-SAT | HiGHS |")
    print("|---|---|---|---|---|---|---|---|")
    for problem, jobs, prototype in ROWS:
        for seed in range(options.count):
            document = Document(PROBLEM, "instance", "drawn", drawn(problem, jobs, seed))
            own, seconds = timed(document, "decomposition", OWN_LIMIT_S)
            plain = [timed(document, m, options.limit)[1] for m in PLAIN]
            step = own.notes.get("closed_by", "")
            print(
                f"| {problem} | {jobs} | {seed} | {own.objective} | {seconds}, {step} "
                f"| {prototype} | {' | '.join(plain)} |",
                flush=True,
            )


COMMANDS = {"exact": exact}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("--count", type=int, default=2, help="of exact: instances of each size")
    parser.add_argument("--limit", type=float, default=20.0, help="of exact: s of plain solvers")
