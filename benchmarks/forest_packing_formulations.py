"""Forest packing: in which fractions every linear formulation ends, and what that takes.

No study times the steps of a run one by one.

    python benchmarks/forest_packing_formulations.py [--seconds 30]

Every linear formulation is solved by HiGHS on an instance of every preset, and on digraphs whose
capacities span six and twelve orders of magnitude. Whether the plan's rate and the certified bound
are equal is asked of fractions. "Exact s" are the seconds from HiGHS's basis to the rational
optimum, "doubles s" those of proving a bound from its doubles instead, of the processor. It is no
study, as the steps of a run are timed one by one; dense overlays: the study
`forest_packing_dense.toml`.
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
from gadgetopt.models.forest_packing.instance import ForestPackingInstance
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.dual_bounds import rational_duals
from gadgetopt.solvers.exact_optimum.refinement import exact_optimum
from gadgetopt.solvers.exact_optimum.values import keep_exact_values
from gadgetopt.solvers.highs import solve_form
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.data import Instance
from gadgetopt.system.declaration import Formulation, Problem, resolved
from gadgetopt.system.files import Document
from gadgetopt.system.generation import Draw, generate
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

#: Dense overlays and the formulation by which they are solved.
DENSE = (("uniform-32", "orientation"), ("directed-uniform-16", "flow"))


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="of HiGHS, by the clock")
    ends_of_formulations(parser.parse_args().seconds)


if __name__ == "__main__":
    main()
