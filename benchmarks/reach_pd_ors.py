"""PD-ORS on saturated clusters: incumbent, bound and gap of the default method, before and now.

    python benchmarks/reach_pd_ors.py [--seconds 60] [--processor]
        [--methods choice repacking highs --] [CASE ...]

A case is MACHINES-JOBS-WORK-SEED of the preset `paper`. `choice` is the rule before, an integer
choice of the columns with some ruin and recreate; `repacking` is the default; `highs` is plain
HiGHS on the compact model. The limit is in seconds of the wall; seconds of the processor are shown
beside the result, as a loaded machine gives fewer of them. With `--processor` the limit is in those
seconds, HiGHS's own limit too. Objectives are the evaluator's (plain
HiGHS: its own), bounds are those of the methods, gaps are (bound - incumbent) / incumbent.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from processor_clock import processor_clock, processor_s

from gadgetopt.models.pd_ors import PROBLEM
from gadgetopt.models.pd_ors.data.generate.presets import paper
from gadgetopt.models.pd_ors.evaluate import evaluate
from gadgetopt.models.pd_ors.formulations import compact
from gadgetopt.models.pd_ors.instance import PdOrsInstance
from gadgetopt.models.pd_ors.proving.exact.portfolio import portfolio
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import highs, solve_model
from gadgetopt.system.result import Limits
from gadgetopt.trust.certificate import certified_bound

CASES = ("30-50-1-3", "10-50-0.05-1")
#: Gaps from here on are not worth a number.
LARGEST_GAP = 10.0
#: With limits in processor seconds: how much longer HiGHS may take by the wall; how often it is
#: looked at.
PATIENCE, POLL_S = 100.0, 0.05
METHODS = ("choice", "repacking", "highs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--processor", action="store_true", help="limit processor seconds")
    arguments = parser.parse_args()
    with processor_limits() if arguments.processor else nullcontext():
        run(arguments)


def run(arguments: argparse.Namespace) -> None:
    """Run the methods on the cases and print the table."""
    print("| machines | jobs | work | seed | method | incumbent | bound | gap % | s | CPU s |")
    print("|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|", flush=True)
    for case in arguments.cases:
        machines, jobs, work, seed = case.split("-")
        instance = paper(
            np.random.default_rng(int(seed)),
            machines=int(machines),
            jobs=int(jobs),
            work_scale=float(work),
        )
        for method in arguments.methods:
            wall, cpu = Clock(), processor_s()
            value, bound = ends(instance, method, Limits(time_s=arguments.seconds))
            seconds, cpu = wall.elapsed_s, processor_s() - cpu
            part = max(0.0, bound - value) / value if value else np.inf
            gap = f"{100 * part:.2f}" if part < LARGEST_GAP else f"> {100 * LARGEST_GAP:.0f}"
            print(
                f"| {machines} | {jobs} | {work} | {seed} | `{method}` | {value:.2f} "
                f"| {bound:.2f} | {gap} | {seconds:.0f} | {cpu:.0f} |",
                flush=True,
            )


def ends(instance: PdOrsInstance, method: str, limits: Limits) -> tuple[float, float]:
    """Return the value of the best decision, judged again, and the bound."""
    if method == "highs":
        model = compact.build(instance)
        found = solve_model(model, "highs", limits)
        value = 0.0 if found.objective is None else float(found.objective)
        return value, np.inf if found.bound is None else float(found.bound)
    placing = "choice" if method == "choice" else "repacking"
    outcome = portfolio(instance, limits, placing=placing)
    judged = evaluate(instance, outcome.solution)
    assert judged.feasible
    bound = np.inf if outcome.dual_bound is None else float(outcome.dual_bound)
    if outcome.certificate is not None:
        proved = certified_bound(PROBLEM, instance, outcome.certificate)
        assert proved is not None
        bound = min(bound, float(proved))
    return float(judged.objective), bound


@contextmanager
def processor_limits() -> Iterator[None]:
    """Count the limits of methods and of HiGHS in processor seconds."""
    inner = highs._run

    def run_highs(solver: Any, form: Any, limits: Limits, *rest: Any) -> Any:
        if limits.time_s is None:
            return inner(solver, form, limits, *rest)
        end = time.process_time() + limits.time_s
        done = threading.Event()

        def watch() -> None:
            while not done.wait(POLL_S):
                if time.process_time() > end:
                    solver.cancelSolve()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            by_wall = replace(limits, time_s=PATIENCE * limits.time_s)
            outcome = inner(solver, form, by_wall, *rest)
        finally:
            done.set()
            watcher.join()
        if outcome.limit_hit == "interrupted":
            outcome.limit_hit = "time_s"
        return outcome

    with processor_clock(), patch.object(highs, "_run", run_highs):
        yield


if __name__ == "__main__":
    main()
