"""A formulation and a backend as a method: build the model, solve it, decode its incumbent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gadgetopt.numbers.tolerance import Number, as_double, simplest_rational
from gadgetopt.search.alarm import TimeUp, ended_after
from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import solver_watched
from gadgetopt.solvers import seed_of, solve_arrays, solve_model
from gadgetopt.solvers.dual_bounds import rounded_in_model
from gadgetopt.solvers.formulations.building import built, compiled
from gadgetopt.solvers.formulations.measures import measures
from gadgetopt.solvers.formulations.permutation import is_of_seed_0, permuted
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.system.data import Instance, LpDuals, Solution
from gadgetopt.system.declaration import Formulation, Problem, integral
from gadgetopt.system.result import (
    Limits,
    MethodOutcome,
    Status,
    Voucher,
)

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

    from gadgetopt.solvers.standard_form import StandardForm


def solve_formulation(
    problem: Problem,
    formulation: Formulation,
    backend: str,
    instance: Instance,
    limits: Limits,
    rng: np.random.Generator,
    options: Mapping[str, Any] | None = None,
) -> MethodOutcome:
    """Return the incumbent of a formulation's model, its bound, and duals that prove it.

    Parameters
    ----------
    options : mapping, optional
        Further options of the solver, as `gadgetopt.solvers.formulations.options` reads them.
    """
    clock = Clock(limits)
    model = form = None
    try:
        with clock.phase("build"), ended_after(clock.left_s):
            if formulation.form is None:
                model = built(formulation, instance)
            else:
                form = compiled(formulation, instance)
    except TimeUp:
        return MethodOutcome(limit_hit="time_s", phases_s=clock.phases_s)
    if clock.expired:  # where there is no alarm
        return MethodOutcome(limit_hit="time_s", phases_s=clock.phases_s)
    with _watched(formulation):
        if form is not None:
            solved = _solved_in_some_order(form, backend, clock, rng, options)
        else:
            solved = solve_model(model, backend, clock.limits(), seed_of(rng), options=options)
    # A relaxation's infeasibility is the problem's; a restriction's says nothing about it, and
    # an unbounded relaxation says nothing either.
    proves = {"exact": {Status.INFEASIBLE, Status.UNBOUNDED}, "relaxation": {Status.INFEASIBLE}}
    proved = solved.status if solved.status in proves.get(formulation.strength, ()) else None
    objective = _claim(formulation, solved, solved.objective)
    bound = _claim(formulation, solved, solved.bound)
    has_incumbent = solved.status in (Status.OPTIMAL, Status.FEASIBLE)
    solution = None
    if has_incumbent and formulation.decode is not None:
        solution = _decision(problem, formulation, instance, solved, model)

    def measured() -> dict[str, Any]:
        thorough = solved.limit_hit != "interrupted"
        return {"model": measures(solved, model, limits, thorough=thorough)}

    outcome = MethodOutcome.of(
        solved,
        solution,
        phases_s=clock.phases_s,
        claimed_objective=objective if formulation.strength == "exact" and solution else None,
        dual_bound=None
        if formulation.strength == "restriction" or bound is None
        else integral(problem, bound),
        voucher=Voucher.SOLVER,
        certificate=None
        if formulation.strength == "restriction"
        or solved.exact_duals is None
        or rounded_in_model(formulation, instance) is not None
        else LpDuals(formulation=formulation.name, row_duals=tuple(solved.exact_duals)),
        proved=proved,
        further_notes=measured,
    )
    remark = solved.reason
    if form is not None and has_incumbent and solution is None:
        remark = remark or f"no exact point was found at {backend}'s incumbent"
    if remark is not None and has_incumbent:
        outcome.notes = {**outcome.notes, "remark": remark}
    outcome.solved = solved
    return outcome


def _watched(formulation: Formulation) -> AbstractContextManager[None]:
    """Pass on the solver's incumbents where they are decisions, and its bounds where they hold."""
    return solver_watched(
        incumbents=formulation.strength == "exact" and formulation.decode is not None,
        bounds=formulation.strength != "restriction",
    )


def _solved_in_some_order(
    form: StandardForm,
    backend: str,
    clock: Clock,
    rng: np.random.Generator,
    options: Mapping[str, Any] | None,
) -> SolverOutcome:
    """Solve a model; a seed other than 0 changes the places of its rows and columns first."""
    if is_of_seed_0(rng):
        return solve_arrays(form, backend, clock.limits(), seed_of(rng), options)
    with clock.phase("build"):
        order = permuted(form, rng)
    return order.undone(solve_arrays(order.form, backend, clock.limits(), seed_of(rng), options))


def _decision(
    problem: Problem,
    formulation: Formulation,
    instance: Instance,
    solved: SolverOutcome,
    model: ConcreteModel | None,
) -> Solution | None:
    """Return the decision that an incumbent is.

    None if the values of arrays are known in doubles only and no rationals near them are feasible.
    """
    decode = cast("Callable[..., Solution]", formulation.decode)
    if model is not None:
        return decode(model, instance)
    assert solved.values is not None
    exact = solved.exact_values
    decision = decode(exact or list(map(simplest_rational, solved.values.tolist())), instance)
    feasible = exact is not None or problem.evaluate(instance, decision).feasible
    return decision if feasible else None


def _claim(formulation: Formulation, solved: SolverOutcome, x: Number | None) -> Number | None:
    """Return an objective or bound of a model to compare with the evaluator's values.

    A double, which is compared with tolerance, unless every number is exact: costs may be rounded,
    and continuous columns are decoded from doubles, so that a decision's value is the exact point's
    up to rounding only.
    """
    if formulation.form is not None and solved.exact_values is not None:
        return x
    whole = solved.exact is None and (solved.form is None or solved.form.integer.all())
    return x if x is None or (whole and not formulation.objective_error) else as_double(x)
