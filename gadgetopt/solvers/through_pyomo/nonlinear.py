"""Nonlinear models: solved, checked as linear ones are, and solved again with another seed.

Nothing else confirms what a solver in doubles says of a nonconvex model: SCIP has called points
optimal that another run beats. An optimum, or infeasibility, that a second run does not confirm in
the time that is left is said to be the solver's word.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyomo.core.base import ConstraintList, value
from pyomo.core.expr.visitor import identify_variables

from gadgetopt.errors import InputError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import Number
from gadgetopt.search.alarm import TimeUp, ended_after, late
from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import Report, solver_report
from gadgetopt.solvers.compiler import CONSTANT_TOLERANCE, TriviallyInfeasibleError
from gadgetopt.solvers.constant import told_with_constant, with_constant
from gadgetopt.solvers.linear import not_compiled
from gadgetopt.solvers.outcome import NAMES, SolverOutcome, with_honest_bound
from gadgetopt.solvers.recheck import (
    FEASIBILITY_TOLERANCE,
    objective_of,
    violated,
    within_bounds,
)
from gadgetopt.solvers.scaling import SMALL_ROW, Scaling, scaling_of
from gadgetopt.solvers.standard_form import (
    NotIntegralError,
    StandardForm,
    compile_parts,
    current_values,
    load_values,
    rounded_values,
)
from gadgetopt.solvers.through_pyomo.incumbent import closed
from gadgetopt.solvers.through_pyomo.nonlinear_terms import Copier, size_of
from gadgetopt.solvers.through_pyomo.plain import Plain, add_row, plain_model
from gadgetopt.system.result import Limits, Status

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

#: Without a time limit, seconds of the second run: these, and so many times those of the first.
#: Tuned: `benchmarks/constants.py`.
LEAST_SECOND_S = 5.0
SECOND_SHARE = 10.0

#: Solves a plain model within limits, with a seed; who is told of incumbents and bounds.
Run = Callable[[Plain, Limits, int, Report | None], SolverOutcome]


def solve_nonlinear(
    model: ConcreteModel,
    run: Run,
    backend: str,
    limits: Limits,
    seed: int,
    warm_start: bool,
) -> SolverOutcome:
    """Solve a Pyomo model that is not linear, and load the checked incumbent into its variables.

    Returns
    -------
    SolverOutcome
        `reason` says so where an optimum is not confirmed, or was refuted by the second run; then
        there is no bound.

    Raises
    ------
    InputError, ModelRefused
        As `solve_model`.
    """
    start, clock, report = time.perf_counter(), Clock(limits), solver_report()
    try:
        with ended_after(late(limits.time_s)):
            program = Program.of(model)
    except TimeUp:
        return not_compiled(clock.elapsed_s)
    except TriviallyInfeasibleError as error:
        return SolverOutcome(Status.INFEASIBLE, reason=str(error))
    if warm_start:
        program.plain.start_from(current_values(program.form))
    compiled = time.perf_counter()
    if report is not None and program.cost is None:
        report = told_with_constant(report, program.form)
    first = program.checked(run(program.plain, clock.limits(), seed, report))
    passed = first.phases_s.get("pass", 0.0)
    outcome = first
    if first.status in (Status.OPTIMAL, Status.INFEASIBLE):
        took_s = first.phases_s.get("solve", 0.0)
        left = clock.limits(at_most_s=LEAST_SECOND_S + SECOND_SHARE * took_s)
        second = None
        if not clock.expired and first.limit_hit is None:
            second = program.checked(run(program.plain, left, seed + 1, None))
        outcome = confirmed(first, second, program.form.sense, NAMES[backend])
    outcome.phases_s = {
        "compile": compiled - start,
        "pass": passed,
        "solve": time.perf_counter() - compiled - passed,
    }
    if outcome.values is not None:
        load_values(program.form, outcome.values)
        outcome.values = None  # there is no linear form that they belong to
    return outcome


def confirmed(
    first: SolverOutcome, second: SolverOutcome | None, sense: str, name: str
) -> SolverOutcome:
    """Return what remains of an optimum, or of infeasibility, after a second run.

    Parameters
    ----------
    second : SolverOutcome or None
        None if there was no time for it.
    sense : "min" or "max"
    name : str
        The solver's, for the sentences.
    """
    word = f"{name}'s word, not confirmed"
    if second is None:
        return replace(first, reason=f"{word}: no time was left for a second run")
    if first.status is Status.INFEASIBLE:
        if second.status is Status.INFEASIBLE:
            return first
        if second.objective is None:
            return replace(first, reason=f"{word}: a second run did not end in time")
        reason = f"{name} called the model infeasible with another seed, so its bound is not taken"
        return replace(second, status=Status.FEASIBLE, bound=None, reason=reason)
    assert first.objective is not None
    agrees = closed(float(first.objective), _double(second.objective))
    if second.status is Status.OPTIMAL and agrees:
        return first
    sign = -1 if sense == "max" else 1
    better = second.objective is not None and sign * (second.objective - first.objective) < 0
    if second.status in (Status.OPTIMAL, Status.INFEASIBLE) or (better and not agrees):
        said = "infeasible" if second.objective is None else f"{float(second.objective):.17g}"
        reason = (
            f"{name} called {float(first.objective):.17g} optimal, and {said} with another seed, "
            "so its bound is not taken"
        )
        best = second if better else first
        return replace(best, status=Status.FEASIBLE, bound=None, root_bound=None, reason=reason)
    return replace(first, reason=f"{word}: a second run did not end in time")


def _double(x: Number | None) -> float | None:
    return None if x is None else float(x)


@dataclass(frozen=True)
class _Row:
    """`low <= body <= high` over the variables of the plain model."""

    name: str
    low: float
    body: Any
    high: float
    whole: bool

    def holds(self) -> bool:
        """Return True if the variables' values satisfy the row, in proportion to its size."""
        try:
            at, size = value(self.body), size_of(self.body, at_values=True)
        except (ValueError, ArithmeticError):
            return False
        # Sums of products of integers are exact but for rounding.
        tolerance = CONSTANT_TOLERANCE if self.whole else FEASIBILITY_TOLERANCE
        return all(
            math.isinf(side) or sign * (side - at) <= tolerance * max(size, abs(side))
            for sign, side in ((1, self.low), (-1, self.high))
        )


@dataclass(frozen=True)
class Program:
    """A nonlinear model as a solver gets it.

    Attributes
    ----------
    form : StandardForm
        All variables and the linear rows; the costs, if the objective is linear.
    plain : Plain
        The same with the nonlinear rows and objective.
    rows : list of _Row
        The nonlinear rows.
    cost : expression or None
        The objective, if it is not linear.
    """

    form: StandardForm
    plain: Plain
    rows: list[_Row]
    cost: Any

    @classmethod
    def of(cls, model: ConcreteModel) -> Program:
        """Return a model's program.

        Raises
        ------
        InputError, ModelRefused, TriviallyInfeasibleError
            As `compile_parts`.
        """
        form, nonlinear = compile_parts(model)
        plain = plain_model(Scaling(1.0, 1.0, scaling_of(form).rows).scaled(form))
        pairs = zip(form.columns, plain.variables, strict=True)
        copier = Copier({id(old): new for old, new in pairs})
        plain.model.nonlinear = ConstraintList()
        rows, cost = [], None
        for component in nonlinear:
            if component.ctype.__name__ == "Objective":
                cost = copier.copy(component.name, component.expr)
                plain.model.objective.set_value(cost)
                continue
            row = _row(copier, component)
            rows.append(row)
            factor = _factor(row.body)
            body = row.body if factor == 1 else factor * row.body
            sides = [(row.low, row.high)]
            if row.low != row.high:
                # Pyomo shifts one side of a range only where the body has a constant.
                sides = [(row.low, math.inf), (-math.inf, row.high)]
            for low, high in sides:
                add_row(plain.model.nonlinear, factor * low, body, factor * high)
        return cls(form, plain, rows, cost)

    def checked(self, outcome: SolverOutcome) -> SolverOutcome:
        """Return an outcome with a checked incumbent and its own objective."""
        if self.cost is None:
            outcome = with_constant(outcome, self.form)
        if outcome.status is Status.UNBOUNDED and outcome.reason is not None:
            return replace(outcome, status=Status.ERROR)
        if outcome.values is None:
            return outcome
        try:
            values = within_bounds(self.form, rounded_values(self.form, outcome.values))
        except NotIntegralError as error:
            return _failed(outcome, str(error))
        self.plain.start_from(values)
        wrong = violated(self.form, values)
        if wrong is None:
            wrong = next((row.name for row in self.rows if not row.holds()), None)
        if wrong is not None:
            return _failed(outcome, f"its incumbent violates {wrong}")
        try:
            objective = self.objective(values)
        except (ValueError, ArithmeticError) as error:
            return _failed(outcome, f"the objective: {error}")
        return with_honest_bound(
            replace(outcome, values=values, objective=objective), self.form.sense
        )

    def objective(self, values: Floats) -> float:
        """Return the objective of values that the plain model's variables have, too."""
        if self.cost is not None:
            return float(value(self.cost))
        return float(objective_of(self.form, values))


def _row(copier: Copier, con: Any) -> _Row:
    lower, body, upper = con.to_bounded_expression()
    copied = copier.copy(con.name, body)
    return _Row(
        con.name,
        _side(con, lower, -math.inf),
        copied,
        _side(con, upper, math.inf),
        all(v.is_integer() for v in identify_variables(copied)),
    )


def _side(con: Any, x: Any, missing: float) -> float:
    number = missing if x is None else float(value(x))
    if math.isnan(number):
        raise InputError(f"{con.name}: nan is not a finite number")
    return number


def _factor(body: Any) -> float:
    """Return the power of two that brings a row of small coefficients next to 1."""
    size = size_of(body, at_values=False)
    return math.ldexp(1.0, -math.frexp(size)[1]) if 0 < size < SMALL_ROW else 1.0


def _failed(outcome: SolverOutcome, reason: str) -> SolverOutcome:
    status = Status.ERROR if outcome.limit_hit is None else Status.NO_SOLUTION
    return replace(outcome, status=status, values=None, objective=None, bound=None, reason=reason)
