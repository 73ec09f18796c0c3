"""Claims refuted by a feasible point that the search for their proof has met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from gadgetopt.numbers.text import show, show_apart
from gadgetopt.numbers.tolerance import refutes
from gadgetopt.system.data import Solution
from gadgetopt.system.declaration import Formulation
from gadgetopt.system.files import Document
from gadgetopt.system.methods import find_formulation
from gadgetopt.system.result import Result, Status


def refuted_by_point(
    document: Document, result: Result, name: str, values: Sequence[Fraction]
) -> Result | None:
    """Return a result whose claim a point of a formulation refutes; None if it does not.

    The claim is that of its bound, or that there is no solution.

    The result is an error then, and has that point as its solution.

    Parameters
    ----------
    name : str
        The formulation.
    values : sequence of Fraction
        Of the columns of its model.
    """
    problem, formulation = document.problem, find_formulation(document.problem, name)
    claim, infeasible = result.bound, result.status is Status.INFEASIBLE
    if formulation.strength != "exact" or formulation.decode is None:
        return None
    solution = _decoded(formulation, document.data, values)
    evaluation = problem.evaluate(document.data, solution)
    objective = evaluation.objective
    if not evaluation.feasible or objective is None:
        return None
    if infeasible:
        claimed, shown = "infeasible", show(objective)
    elif claim is not None and refutes(objective, claim, minimise=problem.sense == "min"):
        said, shown = show_apart(claim, objective)
        claimed = f"{'optimum' if result.status is Status.OPTIMAL else 'dual bound'} {said}"
    else:
        return None
    reason = f"claimed {claimed}, but the search for a proof found a solution of {shown}"
    return replace(
        result,
        status=Status.ERROR,
        objective=None,
        bound=None,
        bound_voucher=None,
        gap=None,
        certificate=None,
        solution=solution,
        evaluation=evaluation,
        reason=reason,
    )


def _decoded(formulation: Formulation, instance: Any, values: Sequence[Fraction]) -> Solution:
    """Return the solution that values of the columns of a formulation's model are."""
    from gadgetopt.solvers.exact_optimum.outcomes import as_doubles
    from gadgetopt.solvers.exact_optimum.values import keep_exact_values
    from gadgetopt.solvers.formulations.building import built
    from gadgetopt.solvers.standard_form import compile_model, load_values

    decode = cast("Callable[..., Solution]", formulation.decode)
    if formulation.form is not None:
        return decode(values, instance)
    model = built(formulation, instance)
    form = compile_model(model)
    load_values(form, as_doubles(values))
    keep_exact_values(model, form, values)
    return decode(model, instance)
