"""Explicit optimal trees of dense overlays, beside columns and HiGHS on the compact flow model.

    python benchmarks/reach_forest_packing.py [--seconds 30] [CASE ...]

A case is DISTRIBUTION-WORKERS, such as uniform-128; directed-DISTRIBUTION-WORKERS draws both
directions of every link on their own. Seconds are of the processor. Ours is the default method.
Columns are those of `column_generation` that hands nothing over, up to 64 workers; the compact
model is `orientation`, up to 32 workers, or `flow` of a digraph, up to 16, and gives loads, no
trees. Both have `--seconds` of the clock at most.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.exact.column_generation import column_generation
from gadgetopt.models.forest_packing.formulations import flow, spanning_trees
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
    "directed-uniform-8",
    "directed-uniform-16",
    "directed-uniform-32",
    "directed-uniform-64",
    "directed-uniform-128",
    "directed-lognormal-128",
    "directed-two_level-128",
)

#: Most workers for which columns and the compact models of cables and digraphs are tried: writing
#: the model alone takes minutes beyond.
MOST_COLUMNS, MOST_CABLES, MOST_DIRECTED = 64, 32, 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE")
    parser.add_argument("--seconds", type=float, default=30.0)
    arguments = parser.parse_args()
    for case in ("uniform-4", "directed-uniform-4"):  # loads the compiled loops
        solved(case)
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
    *directed, kind, workers = case.split("-")
    return presets.paper(
        np.random.default_rng(0),
        workers=int(workers),
        distribution=kind,
        symmetric=not directed,
        model="unit",
    )


def solved(case: str) -> tuple[ForestPackingInstance, float, Any]:
    """Return a case's overlay, the seconds to its trees, and the outcome."""
    instance = drawn(case)
    began = time.process_time()
    outcome = column_generation(instance, Limits(), np.random.default_rng(0))
    return instance, time.process_time() - began, outcome


def by_columns(instance: ForestPackingInstance, most: float) -> tuple[str, str]:
    """Return the seconds of column generation and its number of trees, if it ended in time."""
    if most <= 0 or len(instance.workers) > MOST_COLUMNS:
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
    symmetric = instance.network.symmetric
    if most <= 0 or len(instance.workers) > (MOST_CABLES if symmetric else MOST_DIRECTED):
        return "-", None
    began = time.process_time()
    build = spanning_trees.build_orientation if symmetric else flow.build
    result = solve_model(build(instance), "highs", Limits(time_s=most))
    seconds = time.process_time() - began
    if result.objective is None or result.status is not Status.OPTIMAL:
        return f"> {seconds:.0f}", None
    return f"{seconds:.1f}", float(result.objective)


if __name__ == "__main__":
    main()
