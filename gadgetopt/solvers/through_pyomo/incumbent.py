"""An incumbent in the variables of a Pyomo model: integers rounded, rows checked again."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from typing import Any

from pyomo.core.base import ConcreteModel, Constraint, Var, value
from pyomo.core.expr.numeric_expr import SumExpression

from gadgetopt.errors import InputError
from gadgetopt.solvers.compiler import TriviallyInfeasibleError
from gadgetopt.solvers.domains import value_nearest_zero
from gadgetopt.solvers.linear_terms import NotExactError, TermReader
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.standard_form import INTEGRALITY_TOLERANCE, NotIntegralError
from gadgetopt.system.result import Status, solver_log

#: Allowed violation of a row, relative to the largest of 1, its side and its terms: ten times
#: the solvers' own tolerance, which applies to their transformed problem.
FEASIBILITY_TOLERANCE = 1e-5
#: Relative distance of an objective to its bound below which the solve counts as closed.
CLOSED = 1e-6


class LogStream(io.TextIOBase):
    """Passes complete lines to the solver log."""

    def __init__(self) -> None:
        self.rest: str = ""

    def write(self, text: str) -> int:
        """Take a part of the output."""
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            solver_log.info(line)
        return len(text)


def checked_incumbent(
    model: ConcreteModel, outcome: SolverOutcome, found: Mapping[Any, float]
) -> bool:
    """Load an incumbent into the model; turn the status into an error if it is wrong.

    Returns True if it is right.

    Parameters
    ----------
    model : ConcreteModel
    outcome : SolverOutcome
        Changed in place.
    found : mapping
        Values by variable; others get the value of their domain nearest to zero.
    """
    try:
        load(model, found)
    except (NotIntegralError, TriviallyInfeasibleError) as error:
        outcome.status, outcome.reason = Status.ERROR, str(error)
        return False
    wrong = violated(model)
    if wrong is not None:
        outcome.status, outcome.reason = Status.ERROR, f"its incumbent violates {wrong}"
    return wrong is None


def load(model: ConcreteModel, found: Mapping[Any, float]) -> None:
    """Write values into a model's free variables, integers rounded.

    Raises
    ------
    NotIntegralError
        If a value of an integer variable is farther than 1e-5 from every integer.
    TriviallyInfeasibleError
        If a variable without a value has an empty domain.
    """
    for v in model.component_data_objects(Var):
        if v.fixed:
            continue
        if v not in found:
            v.set_value(value_nearest_zero(v), skip_validation=True)
            continue
        x = found[v]
        if v.is_integer():
            if not abs(x - round(x)) <= INTEGRALITY_TOLERANCE:
                raise NotIntegralError(
                    f"{v.name}: the backend returned {x} for an integer variable"
                )
            x = round(x)
        v.set_value(x, skip_validation=True)


def closed(objective: float | None, bound: float | None) -> bool:
    """Return True if objective and bound meet."""
    if objective is None or bound is None:
        return False
    return abs(objective - bound) <= CLOSED * max(1.0, abs(objective), abs(bound))


def finite(x: float | None) -> float | None:
    """Return a number, or None if it is not finite."""
    return None if x is None or not math.isfinite(x) else float(x)


def violated(model: ConcreteModel) -> str | None:
    """Return the name of a constraint that the variables' values violate; None if there is none.

    Rows that are linear over integers must hold exactly, others within `FEASIBILITY_TOLERANCE`.
    """
    reader = TermReader()
    for con in model.component_data_objects(Constraint, active=True):
        if not _holds(reader, con):
            return str(con.name)
    return None


def _holds(reader: TermReader, con: Any) -> bool:
    lower, body, upper = con.to_bounded_expression()
    try:
        linear = reader.read(body)
        low, high = (None if x is None else reader.constant(x) for x in (lower, upper))
        variables = [reader.variables[key] for key in linear.terms]
        if all(v.is_integer() for v in variables):
            pairs = zip(linear.terms.values(), variables, strict=True)
            total = linear.constant + sum(a * int(v.value) for a, v in pairs)
            return (low is None or low <= total) and (high is None or total <= high)
    except (NotExactError, InputError):
        pass
    parts = body.args if isinstance(body, SumExpression) else (body,)
    size = max(1.0, *(abs(value(part)) for part in parts))
    at = value(body)
    return all(
        x is None or sign * (value(x) - at) <= FEASIBILITY_TOLERANCE * max(size, abs(value(x)))
        for sign, x in ((1, lower), (-1, upper))
    )
