"""Explicit optimal trees of dense overlays, beside columns and HiGHS on the compact flow model.

    python benchmarks/reach_forest_packing.py [--seconds 30] [CASE ...]

A case is DISTRIBUTION-WORKERS, such as uniform-128. Seconds are of the processor. Columns are those
of `column_generation` that hands nothing over; the compact model is `orientation` and gives loads,
no trees. Both have `--seconds` at most.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.exact.arborescence_packing import arborescence_packing
from gadgetopt.models.forest_packing.exact.column_generation import column_generation
from gadgetopt.models.forest_packing.formulations import spanning_trees
from gadgetopt.models.forest_packing.generate import presets
from gadgetopt.models.forest_packing.instance import ForestPackingInstance

from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits, Status

CASES = (
    "uniform-8",
    "uniform-16",
    "uniform-32",
    "uniform-64",
    "uniform-128",
    "lognormal-128",
    "two_level-128",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE")
    parser.add_argument("--seconds", type=float, default=30.0)
    arguments = parser.parse_args()
    solved("uniform-4")  # loads the compiled loops
    print(
        "| overlay | links | trees s | trees | rate = bound | columns s | trees "
        "| compact HiGHS s | its rate / ours |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    for case in arguments.cases:
        instance, seconds, outcome = solved(case)
        plan = evaluate(instance, outcome.solution)
        assert plan.feasible
        assert plan.objective == outcome.claimed_objective
        exact = str(outcome.dual_bound) if plan.objective == outcome.dual_bound else "no"
        columns, their_trees = by_columns(instance, arguments.seconds)
        compact, rate = plain(instance, arguments.seconds)
        ratio = "-" if rate is None else f"{rate / float(plan.objective):.6f}"
        links = len(instance.network.arcs)
        print(
            f"| {case} | {links:,} | {seconds:.2f} | {len(outcome.solution.trees)} | {exact} "
            f"| {columns} | {their_trees} | {compact} | {ratio} |",
            flush=True,
        )


def drawn(case: str) -> ForestPackingInstance:
    """Return the overlay of a case, seed 0."""
    kind, workers = case.rsplit("-", 1)
    rng = np.random.default_rng(0)
    return presets.paper(rng, workers=int(workers), distribution=kind, model="unit")


def solved(case: str) -> tuple[ForestPackingInstance, float, Any]:
    """Return a case's overlay, the seconds to its trees, and the outcome."""
    instance = drawn(case)
    began = time.process_time()
    outcome = arborescence_packing(instance, Limits(), np.random.default_rng(0))
    return instance, time.process_time() - began, outcome


def by_columns(instance: ForestPackingInstance, most: float) -> tuple[str, str]:
    """Return the seconds of column generation and its number of trees, if it ended in time."""
    if most <= 0:
        return "-", "-"
    began = time.process_time()
    outcome = column_generation(
        instance, Limits(time_s=most), np.random.default_rng(0), hand_over=False
    )
    seconds = time.process_time() - began
    if outcome.limit_hit is not None:
        return f"> {seconds:.0f}", "-"
    return f"{seconds:.2f}", str(len(outcome.solution.trees))


def plain(instance: ForestPackingInstance, most: float) -> tuple[str, float | None]:
    """Return the seconds of HiGHS on the compact model, and its rate if it ended in time."""
    if most <= 0:
        return "-", None
    began = time.process_time()
    result = solve_model(spanning_trees.build_orientation(instance), "highs", Limits(time_s=most))
    seconds = time.process_time() - began
    if result.objective is None or result.status is not Status.OPTIMAL:
        return f"> {seconds:.0f}", None
    return f"{seconds:.1f}", float(result.objective)


if __name__ == "__main__":
    main()
