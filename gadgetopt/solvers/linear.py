"""Linear Pyomo models solved by a backend, whose incumbent is checked before it is used."""

from __future__ import annotations

import importlib
import importlib.metadata
import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import Number
from gadgetopt.search.alarm import TimeUp, ended_after, late
from gadgetopt.solvers.compiler import TriviallyInfeasibleError
from gadgetopt.solvers.exact_form import ExactParts, row_without_integers
from gadgetopt.solvers.exact_optimum.cost_steps import size_beyond_doubles, with_less_claimed
from gadgetopt.solvers.exact_optimum.outcomes import (
    LEAST_TIME_S,
    at_exact_optimum,
    for_exact,
    with_exact_incumbent,
)
from gadgetopt.solvers.exact_optimum.rays import without_false_bound
from gadgetopt.solvers.exact_optimum.values import keep_exact_values
from gadgetopt.solvers.formulations.backends import THROUGH_PYOMO
from gadgetopt.solvers.outcome import NAMES, SolverOutcome, with_honest_bound
from gadgetopt.solvers.recheck import (
    beyond_doubles,
    closed,
    has_wide_row,
    objective_of,
    violated,
    with_objective,
    within_bounds,
)
from gadgetopt.solvers.standard_form import (
    NotIntegralError,
    StandardForm,
    compile_model,
    crossed_sides,
    current_values,
    load_values,
    rounded_values,
)
from gadgetopt.system.result import Limits, Status

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


#: What to do about a row whose sums no solver resolves.
ROUNDER = "use rounder coefficients or tighter bounds"


def solve_linear(
    model: ConcreteModel,
    backend: str,
    limits: Limits,
    seed: int,
    warm_start: bool,
    given: Mapping[str, Any] | None = None,
) -> SolverOutcome:
    """Compile a model, solve it, check the incumbent and load it into the model's variables."""
    start = time.perf_counter()
    try:
        with ended_after(late(limits.time_s)):
            form = compile_model(model)
    except TimeUp:
        return not_compiled(time.perf_counter() - start)
    except TriviallyInfeasibleError as error:
        phases = {"compile": time.perf_counter() - start, "pass": 0.0, "solve": 0.0}
        return SolverOutcome(Status.INFEASIBLE, reason=str(error), phases_s=phases)
    compile_s = time.perf_counter() - start
    values = current_values(form) if warm_start else None
    outcome = solve_form(form, backend, _rest(limits, start), seed, values, given)
    outcome.phases_s = {"compile": compile_s, **outcome.phases_s}
    if outcome.values is not None and outcome.status is not Status.ERROR:
        load_values(form, outcome.values)
        if outcome.exact_values is not None:
            keep_exact_values(model, form, outcome.exact_values)
    return outcome


def solve_form(
    form: StandardForm,
    backend: str,
    limits: Limits,
    seed: int,
    values: Floats | None = None,
    given: Mapping[str, Any] | None = None,
) -> SolverOutcome:
    """Solve a compiled model, check its incumbent and make it exact.

    Parameters
    ----------
    values : ndarray of float, optional
        Where the search starts. Shape (columns,).
    given : mapping, optional
        Further options of the solver, by its own names.
    """
    from gadgetopt.solvers.dual_bounds import rational_duals

    start = time.perf_counter()
    reason, empty = crossed_sides(form), row_without_integers(form)
    if reason is None and empty is not None:
        reason = f"{empty}: no integers satisfy it"
    if reason is not None:
        phases = {"pass": 0.0, "solve": time.perf_counter() - start}
        return SolverOutcome(Status.INFEASIBLE, reason=reason, phases_s=phases, form=form)
    by_cpsat = None if backend == "cpsat" else _too_large_for_doubles(form, limits, seed)
    outcome = by_cpsat or _solve_form(form, backend, limits, seed, values, given)
    passed = outcome.phases_s.get("pass", 0.0)
    if backend not in ("highs", "cpsat"):
        outcome = _with_basis_of_highs(form, outcome, backend, _rest(limits, start), seed)
    exact = at_exact_optimum(form, outcome, _rest(limits, start))
    proved = None
    if by_cpsat is None and not exact:
        outcome = checked(form, outcome, backend, _rest(limits, start), seed)
        if outcome.row_duals is not None:
            proved = rational_duals(form, outcome.row_duals)
            outcome.exact_duals = None if proved is None else proved[1]
        if backend != "cpsat":
            outcome = with_exact_incumbent(form, outcome, _rest(limits, start), seed)
        if backend != "cpsat" and proved is None:
            left = for_exact(_rest(limits, start), outcome)
            outcome = without_false_bound(form, outcome, left, seed)
    outcome.phases_s = {"pass": passed, "solve": time.perf_counter() - start - passed}
    outcome.form = form
    return outcome


def not_compiled(seconds: float) -> SolverOutcome:
    """Return the outcome of a model that took so long to compile that the time is up."""
    phases = {"compile": seconds, "pass": 0.0, "solve": 0.0}
    return SolverOutcome(Status.NO_SOLUTION, limit_hit="time_s", phases_s=phases)


def _with_basis_of_highs(
    form: StandardForm, outcome: SolverOutcome, backend: str, limits: Limits, seed: int
) -> SolverOutcome:
    """Return another solver's optimum of a linear program with the basis in which HiGHS ends.

    The exact optimum is computed from there. Where HiGHS finds another optimum, nothing is proved
    until then.
    """
    if outcome.status is not Status.OPTIMAL or form.integer.any():
        return outcome
    try:
        second = _solve_form(form, "highs", for_exact(limits, outcome), seed, None)
    except ModelRefused:
        return outcome
    if second.status is not Status.OPTIMAL or second.objective is None:
        return outcome
    outcome = replace(outcome, basis=second.basis)
    if not closed(form, second.objective, outcome.objective):
        name, theirs = NAMES[backend], outcome.objective
        reason = f"{name} calls {theirs} the optimum, and HiGHS {second.objective}"
        return replace(outcome, bound=None, reason=reason)
    return outcome


def checked(
    form: StandardForm, outcome: SolverOutcome, backend: str, limits: Limits, seed: int
) -> SolverOutcome:
    """Return an outcome with a checked incumbent, and without conclusions from rounding.

    Integers are rounded; then rows over integers must hold exactly, others within
    `FEASIBILITY_TOLERANCE`. If HiGHS fails on a model over integers, CP-SAT decides; if continuous
    variables are at fault, they are recomputed with the integers fixed. If this fails, the status
    is `ERROR`, or `NO_SOLUTION` if a limit was hit.

    Parameters
    ----------
    limits : Limits
        `time_s` is the time left.
    """
    if outcome.status is Status.ERROR:
        return outcome
    if isinstance(outcome.objective, float) and not math.isfinite(outcome.objective):
        return _failed(outcome, "the objective is beyond the range of doubles")
    wrong = None
    if outcome.values is not None:
        try:
            outcome.values = within_bounds(form, rounded_values(form, outcome.values))
        except NotIntegralError as error:
            return _failed(outcome, str(error))
        wrong = violated(form, outcome.values)
    if backend == "cpsat":
        return outcome if wrong is None else _failed(outcome, f"its incumbent violates {wrong}")
    if wrong is not None and not form.integer.all():
        outcome, wrong = _with_fixed_integers(form, outcome, wrong, backend, limits, seed), None
    if outcome.status is Status.ERROR:
        return outcome
    if not form.integer.any():
        return outcome if backend == "highs" else _with_true_objective(form, outcome)
    far = beyond_doubles(form)
    if far is not None:
        return _without_rounded_claims(form, outcome, wrong, far, backend, limits, seed)
    if wrong is not None:
        return _by_cpsat(form, outcome, wrong, backend, limits, seed)
    if outcome.status is Status.INFEASIBLE and form.integer.all():
        return _confirmed_infeasible(form, outcome, limits, seed)
    if outcome.status is Status.OPTIMAL and form.integer.all() and has_wide_row(form):
        outcome = _confirmed_optimal(form, outcome, backend, limits, seed)
    return _without_lost_costs(form, outcome, backend, limits, seed)


def _too_large_for_doubles(form: StandardForm, limits: Limits, seed: int) -> SolverOutcome | None:
    """Return CP-SAT's outcome on a model over integers that doubles cannot resolve, if it takes it.

    Nothing that a solver in doubles concluded could be believed, and its search may ignore the time
    limit.
    """
    if not form.integer.all() or beyond_doubles(form) is None:
        return None
    outcome = _cpsat_outcome(form, limits, seed)
    return None if isinstance(outcome, str) else outcome


def _with_true_objective(form: StandardForm, outcome: SolverOutcome) -> SolverOutcome:
    """Return an outcome with the rounded incumbent's objective; not optimal if a gap opens.

    Over integers it is exact, else its nearest double.
    """
    if outcome.values is None:
        return outcome
    try:
        objective: Number = objective_of(form, outcome.values)
    except ModelRefused:
        objective = float(form.c @ outcome.values) + form.offset
    try:
        double = float(objective)
    except OverflowError:
        return _failed(outcome, "the objective is beyond the range of doubles")
    objective = objective if form.integer.all() else double
    return with_honest_bound(with_objective(form, outcome, objective), form.sense)


def _without_rounded_claims(
    form: StandardForm,
    outcome: SolverOutcome,
    wrong: str | None,
    far: str,
    backend: str,
    limits: Limits,
    seed: int,
) -> SolverOutcome:
    """Return the claims that remain for a model whose row `far` the backend cannot resolve."""
    if outcome.status in (Status.UNBOUNDED, Status.NO_SOLUTION):
        return replace(outcome, bound=None)
    reason = f"{far}: its sums are too large for {NAMES[backend]}, which computes in doubles"
    if wrong is not None or outcome.limit_hit is None:
        second = _cpsat_outcome(form, limits, seed)
        conclusive = (Status.OPTIMAL, Status.INFEASIBLE)
        if not isinstance(second, str) and second.status in conclusive:
            return second
        taken = "CP-SAT did not finish" if not isinstance(second, str) else _not_taken(second)
        reason += f", and {taken}"
    if wrong is not None:
        return _failed(outcome, f"{reason}: its point violates {wrong}; {ROUNDER}")
    if outcome.values is None:
        word = str(outcome.status).replace("_", " ")
        return _failed(outcome, f"{reason}: that the model is {word} is not confirmed; {ROUNDER}")
    outcome = _with_true_objective(form, outcome)
    found = "the point satisfies all rows exactly, but may not be optimal"
    reason = f"{reason}: {found}; {ROUNDER}, or --certify, which proves in exact arithmetic"
    return replace(outcome, status=Status.FEASIBLE, bound=None, reason=reason)


def _not_taken(reason: str) -> str:
    """Return, in the middle of a sentence, why CP-SAT does not take a model."""
    return f"CP-SAT does not take the model ({reason.partition('; ')[0]})"


def _by_cpsat(
    form: StandardForm,
    outcome: SolverOutcome,
    wrong: str,
    backend: str,
    limits: Limits,
    seed: int,
) -> SolverOutcome:
    """Return the outcome of CP-SAT on a model over integers."""
    second = _cpsat_outcome(form, limits, seed)
    if isinstance(second, str):
        reason = f"{NAMES[backend]}'s incumbent violates {wrong}; CP-SAT: {second}"
        return _failed(outcome, reason)
    return second


def _confirmed_infeasible(
    form: StandardForm, outcome: SolverOutcome, limits: Limits, seed: int
) -> SolverOutcome:
    """Return CP-SAT's outcome if it finds a solution in the time that the backend took.

    HiGHS's presolve is known to declare some feasible models infeasible.
    """
    second = _cpsat_outcome(form, _as_long_again(outcome, limits), seed)
    if isinstance(second, str) or second.values is None:
        return outcome
    return second


def _confirmed_optimal(
    form: StandardForm, outcome: SolverOutcome, backend: str, limits: Limits, seed: int
) -> SolverOutcome:
    """Return CP-SAT's optimum if it proves one in the time that the backend took.

    Solvers in doubles take a variable within 1e-6 of an integer for one, which in a row of wide
    coefficients may be more than its small ones; presolve then loses solutions. Where CP-SAT does
    not take the model, the incumbent remains, without a bound.
    """
    second = _cpsat_outcome(form, _as_long_again(outcome, limits), seed)
    if isinstance(second, str):
        reason = (
            f"the coefficients of a row are too far apart for {NAMES[backend]}; CP-SAT: {second}"
        )
        return replace(outcome, status=Status.FEASIBLE, bound=None, reason=reason)
    return second if second.status is Status.OPTIMAL else outcome


def _without_lost_costs(
    form: StandardForm, outcome: SolverOutcome, backend: str, limits: Limits, seed: int
) -> SolverOutcome:
    """Return an outcome with its true objective that claims no more than doubles resolve of it.

    CP-SAT confirms an optimum where it can in the time that the backend took.
    """
    claimed, outcome = outcome, _with_true_objective(form, outcome)
    size = size_beyond_doubles(form, claimed) if isinstance(claimed.bound, float) else None
    if size is None or outcome.status is Status.ERROR:
        return outcome
    if claimed.status is Status.OPTIMAL and form.integer.all():
        second = _cpsat_outcome(form, _as_long_again(claimed, limits), seed)
        if not isinstance(second, str) and second.status is Status.OPTIMAL:
            return second
    return with_less_claimed(form, outcome, size, backend)


def _as_long_again(outcome: SolverOutcome, limits: Limits) -> Limits:
    """Return the limits of a second solver: the time that the first one took."""
    time_s = max(LEAST_TIME_S, outcome.phases_s.get("solve", 0.0))
    if limits.time_s is not None:
        time_s = min(time_s, limits.time_s)
    return replace(limits, time_s=time_s)


def _cpsat_outcome(form: StandardForm, limits: Limits, seed: int) -> SolverOutcome | str:
    """Return a checked outcome of CP-SAT, or the reason why there is none."""
    try:
        outcome = _solve_form(form, "cpsat", limits, seed, None)
    except ModelRefused as error:
        return str(error)
    outcome = checked(form, outcome, "cpsat", limits, seed)
    outcome.versions = {"ortools": importlib.metadata.version("ortools")}
    return str(outcome.reason) if outcome.status is Status.ERROR else outcome


def _with_fixed_integers(
    form: StandardForm,
    outcome: SolverOutcome,
    wrong: str,
    backend: str,
    limits: Limits,
    seed: int,
) -> SolverOutcome:
    """Return an outcome whose continuous columns are recomputed with the integers fixed.

    Rows are scaled so that HiGHS's absolute tolerance is relative to their size.
    """
    assert outcome.values is not None
    values, integer = outcome.values, form.integer
    scale = _row_scales(form)
    A = form.A.copy()
    A.data = A.data * np.repeat(scale, np.diff(A.indptr))
    program = replace(
        form,
        A=A,
        row_lower=form.row_lower * scale,
        row_upper=form.row_upper * scale,
        col_lower=np.where(integer, values, form.col_lower),
        col_upper=np.where(integer, values, form.col_upper),
        integer=np.zeros(len(values), dtype=bool),
        exact=ExactParts(),
    )
    time_s = None if limits.time_s is None else max(LEAST_TIME_S, limits.time_s)
    reason = f"{NAMES[backend]}'s incumbent violates {wrong}, and could not be mended"
    failed = _failed(outcome, reason)
    try:
        second = _solve_form(program, "highs", replace(limits, time_s=time_s), seed, None)
    except ModelRefused:
        return failed
    if second.status is not Status.OPTIMAL or second.values is None:
        return failed
    second.values = within_bounds(form, np.where(integer, values, second.values))
    if violated(form, second.values) is not None:
        return failed
    if integer.any():
        return replace(outcome, values=second.values)
    duals = None if second.row_duals is None else second.row_duals * scale
    return replace(second, row_duals=duals)


def _row_scales(form: StandardForm) -> Floats:
    """Return powers of two that bring the largest coefficient of each row next to 1."""
    largest = np.asarray(abs(form.A).max(axis=1).todense()).ravel()
    _, exponents = np.frexp(np.where(largest > 0, largest, 1.0))
    return np.ldexp(1.0, -exponents)


def _failed(outcome: SolverOutcome, reason: str) -> SolverOutcome:
    status = Status.ERROR if outcome.limit_hit is None else Status.NO_SOLUTION
    return replace(
        outcome,
        status=status,
        values=None,
        objective=None,
        bound=None,
        row_duals=None,
        reason=reason,
    )


def _solve_form(
    form: StandardForm,
    backend: str,
    limits: Limits,
    seed: int,
    values: Floats | None,
    given: Mapping[str, Any] | None = None,
) -> SolverOutcome:
    # Without columns there is nothing to decide, and not every solver takes such a model.
    name = backend if form.columns or backend == "cpsat" else "highs"
    others = dict.fromkeys(THROUGH_PYOMO, "through_pyomo.other_solvers")
    module = {"scip": "through_pyomo.scip", **others}.get(name, name)
    solver = importlib.import_module(f"gadgetopt.solvers.{module}")
    which = {"backend": name} if name in THROUGH_PYOMO else {}
    outcome: SolverOutcome = solver.solve_form(form, limits, seed, values, given, **which)
    return outcome


def _rest(limits: Limits, start: float) -> Limits:
    if limits.time_s is None:
        return limits
    return replace(limits, time_s=max(0.0, limits.time_s - (time.perf_counter() - start)))
