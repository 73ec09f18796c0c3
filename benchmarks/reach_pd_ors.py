"""PD-ORS on saturated clusters: incumbent, bound and gap of the default method, before and now.

    python benchmarks/reach_pd_ors.py [--seconds 60] [--methods choice repacking highs] [CASE ...]

A case is MACHINES-JOBS-WORK-SEED of the preset `paper`. `choice` is the rule before, an integer
choice of the columns with some ruin and recreate; `repacking` is the default; `highs` is plain
HiGHS on the compact model. The limit is in seconds of the wall; seconds of the processor are shown
beside the result, as a loaded machine gives fewer of them. Objectives are the evaluator's (plain
HiGHS: its own), bounds are those of the methods, gaps are (bound - incumbent) / incumbent.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from gadgetopt.models.pd_ors import PROBLEM
from gadgetopt.models.pd_ors.evaluate import evaluate
from gadgetopt.models.pd_ors.exact.portfolio import portfolio
from gadgetopt.models.pd_ors.exact.repacking_search import prepare
from gadgetopt.models.pd_ors.formulations import compact
from gadgetopt.models.pd_ors.generate.presets import paper
from gadgetopt.models.pd_ors.instance import PdOrsInstance

from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits
from gadgetopt.trust.certificate import certified_bound

CASES = ("30-50-1-3", "10-50-0.05-1")
#: Gaps from here on are not worth a number.
LARGEST_GAP = 10.0
METHODS = ("choice", "repacking", "highs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    arguments = parser.parse_args()
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
        prepare(instance)
        for method in arguments.methods:
            wall, cpu = time.perf_counter(), time.process_time()
            value, bound = ends(instance, method, Limits(time_s=arguments.seconds))
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            part = max(0.0, bound - value) / value if value else np.inf
            gap = f"{100 * part:.2f}" if part < LARGEST_GAP else f"> {100 * LARGEST_GAP:.0f}"
            print(
                f"| {machines} | {jobs} | {work} | {seed} | `{method}` | {value:.2f} "
                f"| {bound:.2f} | {gap} | {wall:.0f} | {cpu:.0f} |",
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
    outcome = portfolio(instance, limits, np.random.default_rng(0), placing=placing)
    judged = evaluate(instance, outcome.solution)
    assert judged.feasible
    bound = np.inf if outcome.dual_bound is None else float(outcome.dual_bound)
    if outcome.certificate is not None:
        proved = certified_bound(PROBLEM, instance, outcome.certificate)
        assert proved is not None
        bound = min(bound, float(proved))
    return float(judged.objective), bound


if __name__ == "__main__":
    main()
