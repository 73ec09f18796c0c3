"""A-SRPT: the exact method beside plain CP-SAT and plain HiGHS.

`python benchmarks/a_srpt.py exact [--count 2] [--limit 20]`

Rows: (F) on four servers of four GPUs, at loads 1 and 2, and (P), rigid jobs in a pool of 32 GPUs
at load 2.5. For each size, the first `--count` seeds. Columns: CPU seconds of `decomposition` with
the step that closed the gap; of the same steps without prices, as a prototype of this method took
them: a schedule by annealing, the time-indexed program over the windows that its value leaves,
servers for its starts; of `cp_configurations` (model A, or one cumulative constraint) and of
`time_indexed@highs`, both with `--limit`. A gap or the reason is given where an optimum is not
proved. `prototype` is the range of seconds on its own instances, on a shared machine. One thread;
CPU seconds, so that other processes count little. Limits are wall-clock seconds, 240 of both
decompositions.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from gadgetopt.models.a_srpt import PROBLEM
from gadgetopt.models.a_srpt.data.generate.presets import pool
from gadgetopt.models.a_srpt.data.generate.random_jobs import random_instance
from gadgetopt.models.a_srpt.instance import ASrptInstance
from gadgetopt.models.a_srpt.proving.certificate.start_costs import better_starts
from gadgetopt.models.a_srpt.proving.exact.pool_program import solve_program
from gadgetopt.models.a_srpt.proving.exact.pool_search import pool_schedule
from gadgetopt.models.a_srpt.proving.exact.server_assignment import servers_for
from gadgetopt.models.a_srpt.relaxations import pool_of
from gadgetopt.models.a_srpt.subproblems.configurations import Configurations
from gadgetopt.search.clock import Clock
from gadgetopt.system.files import Document
from gadgetopt.system.result import Limits, Result, Status
from gadgetopt.trust.run import solve

#: Problem, jobs, load, range of the prototype's seconds.
ROWS = (
    ("F", 24, 1.0, "6-58"),
    ("F", 24, 2.0, "6-58"),
    ("F", 32, 1.0, "12-68"),
    ("F", 32, 2.0, "12-68"),
    ("P", 20, 2.5, "0.4-1.3"),
    ("P", 30, 2.5, "5-12"),
    ("P", 40, 2.5, "69-100"),
)
PLAIN = ("cp_configurations", "time_indexed@highs")
OWN_LIMIT_S = 240.0


def drawn(problem: str, jobs: int, load: float, seed: int) -> ASrptInstance:
    """Draw an instance of a row."""
    rng = np.random.default_rng(seed)
    if problem == "P":
        return pool(rng, jobs=jobs, load=load)
    return random_instance(
        rng,
        jobs=jobs,
        servers=4,
        gpus_per_server=4,
        load=load,
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


def without_prices(instance: ASrptInstance) -> str:
    """Return CPU seconds of the decomposition without prices, and how it ended."""
    begin = time.process_time()
    clock, rng, jobs = (
        Clock(Limits(time_s=OWN_LIMIT_S)),
        np.random.default_rng(0),
        pool_of(instance),
    )
    found = [pool_schedule(jobs, restart, rng, clock) for restart in (0, 1, 1, 1)]
    value, starts = min(found, key=lambda pair: pair[0])
    left = better_starts(jobs, np.zeros(1), value)
    solved, best = solve_program(jobs, left.allowed, clock.limits(), 0)
    if best is not None:
        starts = best
    closed = solved.status in (Status.OPTIMAL, Status.INFEASIBLE)
    configurations = Configurations(instance, 2000)
    status, _ = servers_for(configurations, starts, clock.limits(), 0)
    seconds = f"{time.process_time() - begin:.1f}"
    if not closed:
        return f"{seconds} (pool open)"
    return seconds if status is Status.OPTIMAL else f"{seconds} (no servers)"


def exact(options: argparse.Namespace) -> None:
    """Print the table, a line when it is known."""
    print(
        "| problem | jobs | load | seed | optimum | decomposition | without prices | prototype "
        "| CP-SAT | HiGHS |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for problem, jobs, load, prototype in ROWS:
        for seed in range(options.count):
            instance = drawn(problem, jobs, load, seed)
            document = Document(PROBLEM, "instance", "drawn", instance)
            own, seconds = timed(document, "decomposition", OWN_LIMIT_S)
            other = without_prices(instance)
            plain = [timed(document, m, options.limit)[1] for m in PLAIN]
            step = own.notes.get("closed_by", "")
            print(
                f"| {problem} | {jobs} | {load:g} | {seed} | {own.objective} | {seconds}, {step} "
                f"| {other} | {prototype} | {' | '.join(plain)} |",
                flush=True,
            )


COMMANDS = {"exact": exact}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("--count", type=int, default=2, help="of exact: instances of each size")
    parser.add_argument("--limit", type=float, default=20.0, help="of exact: s of plain solvers")
