"""Explicit optimal trees of dense overlays, beside columns and HiGHS on the compact flow model.

    python benchmarks/reach_forest_packing.py [--seconds 30] [CASE ...]
    python benchmarks/reach_forest_packing.py --formulations [--seconds 30]

A case is DISTRIBUTION-WORKERS, such as uniform-128; directed-DISTRIBUTION-WORKERS draws both
directions of every link on their own. Seconds are of the processor. Ours is the default method.
Columns are those of `column_generation` that hands nothing over, up to 64 workers; the compact
model is `orientation`, up to 32 workers, or `flow` of a digraph, up to 16, and gives loads, no
trees. Both have `--seconds` of the clock at most.

With `--formulations`, every linear formulation is solved by HiGHS on an instance of every preset,
and on digraphs whose capacities span six and twelve orders of magnitude. Whether the plan's rate
and the certified bound are equal is asked of fractions. "Exact s" are the seconds from HiGHS's
basis to the rational optimum, "doubles s" those of proving a bound from its doubles instead.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import gadgetopt
from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.data.generate import presets
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.formulations import flow, spanning_trees
from gadgetopt.models.forest_packing.instance import ForestPackingInstance
from gadgetopt.models.forest_packing.proving.exact.column_generation import column_generation
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.dual_bounds import rational_duals
from gadgetopt.solvers.exact_optimum.refinement import exact_optimum
from gadgetopt.solvers.exact_optimum.values import keep_exact_values
from gadgetopt.solvers.highs import solve_form
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.data import Instance
from gadgetopt.system.declaration import Formulation, Problem, resolved
from gadgetopt.system.files import Document
from gadgetopt.system.generation import Draw, generate
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

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

#: Dense overlays and the formulation by which they are solved with `--formulations`.
DENSE = (("uniform-32", "orientation"), ("directed-uniform-16", "flow"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--formulations", action="store_true")
    arguments = parser.parse_args()
    if arguments.formulations:
        ends_of_formulations(arguments.seconds)
        return
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


def ends_of_formulations(most: float) -> None:
    print(
        "| instance | formulation | rows | rate | = bound | bases | HiGHS s | exact s | doubles s "
        "| trees s |"
    )
    print("|---|---|---:|---:|---|---:|---:|---:|---:|---:|", flush=True)
    problem = gadgetopt.problem("forest_packing")
    generators = {g.name: g for g in problem.generators}
    instances = {
        name: generate(problem, g, Draw(name, {}, 0, 0), name).data
        for name, g in generators.items()
    }
    instances |= {f"wide-{span}-{n}": wide(span, n) for span in (6, 12) for n in (4, 8)}
    linear = [f for f in problem.formulations if f.model_class == "LP" and f.decode is not None]
    pairs = [(name, f) for name in instances for f in linear]
    instances |= {name: drawn(name) for name, _ in DENSE}
    pairs += [(name, f) for name, dense in DENSE for f in linear if f.name == dense]
    for name, formulation in pairs:
        print_end(problem, name, instances[name], formulation, most)


def wide(span: int, workers: int) -> ForestPackingInstance:
    """Return a digraph whose capacities span as many orders of magnitude, in three digits each."""
    rng = np.random.default_rng(0)
    instance = presets.paper(rng, workers=workers, symmetric=False, model="unit")
    links = tuple(
        link.model_copy(
            update={"bandwidth_gbyte_per_s": float(f"{10 ** rng.uniform(0, span):.2e}")}
        )
        for link in instance.links
    )
    return instance.model_copy(update={"links": links})


def print_end(
    problem: Problem, name: str, instance: Instance, formulation: Formulation, most: float
) -> None:
    """Print in which fractions a formulation ends, and what that takes."""
    build, decode = resolved(formulation.build), resolved(formulation.decode)
    try:
        model = build(instance)
    except ModelRefused:
        return
    form = compile_model(model)
    row = f"| {name} | `{formulation.name}` | {len(form.rows):,} "
    seconds, outcome = timed(lambda: solve_form(form, Limits(time_s=most)))
    if outcome.basis is None:
        print(f"{row}| - | - | - | > {seconds:.1f} | - | - | - |", flush=True)
        return
    exact_s, exact = timed(lambda: exact_optimum(form, outcome.basis, Clock()))
    doubles_s, _ = timed(lambda: rational_duals(form, outcome.row_duals))
    keep_exact_values(model, form, exact.values)
    trees_s, _ = timed(lambda: decode(model, instance))
    document = Document(problem=problem, kind="instance", name=name, data=instance)
    result = solve(document, f"{formulation.name}@highs")
    equal = isinstance(result.bound, int | Fraction) and result.objective == result.bound
    print(
        f"{row}| {result.objective} | {'yes' if equal else 'no'} | {exact.rounds} | {seconds:.2f} "
        f"| {exact_s:.3f} | {doubles_s:.3f} | {trees_s:.3f} |",
        flush=True,
    )


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of the processor that a call takes, and what it returns."""
    began = time.process_time()
    out = call()
    return time.process_time() - began, out


if __name__ == "__main__":
    main()
