"""The values of a Pyomo model's variables checked against its rows, and what solvers print."""

from __future__ import annotations

import io
import math
from typing import Any

from pyomo.core.base import ConcreteModel, Constraint, value
from pyomo.core.expr.numeric_expr import SumExpression

from gadgetopt.errors import InputError
from gadgetopt.solvers.linear_terms import NotExactError, TermReader
from gadgetopt.solvers.outcome import CLOSED
from gadgetopt.system.result import solver_log

#: Allowed violation of a row by values that were printed with few digits, relative to the largest
#: of 1, its side and its terms. Tuned: `benchmarks/constants.py`.
FEASIBILITY_TOLERANCE = 1e-5


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
