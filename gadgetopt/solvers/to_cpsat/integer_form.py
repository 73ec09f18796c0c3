"""A standard form over integer variables, scaled to integers exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.solvers.compiler import TriviallyInfeasibleError
from gadgetopt.solvers.exact_form import ExactReader, Side
from gadgetopt.solvers.linear_terms import LARGEST_EXACT, Exact
from gadgetopt.solvers.standard_form import StandardForm


@dataclass(frozen=True)
class IntegerRow:
    """`lower <= sum(coefficients * x[columns]) <= upper`; None where there is no bound."""

    name: str
    columns: list[int]
    coefficients: list[int]
    lower: int | None
    upper: int | None


@dataclass
class IntegerForm:
    """Minimise `sum(costs * x)` over integers; all numbers are exact.

    Attributes
    ----------
    names : list of str
    lower, upper : list of int or None
        Bounds per column; None where there is none.
    rows : list of IntegerRow
    costs : dict of int to int
        Nonzero costs by column.
    sign : int
        -1 where the model maximises: then `costs` are negated.
    unit : Fraction
        Value of one unit of `sum(costs * x)` in the model's objective, positive.
    offset : Fraction
        The model's objective is `offset + sign * unit * sum(costs * x)`.
    """

    names: list[str]
    lower: list[int | None]
    upper: list[int | None]
    rows: list[IntegerRow]
    costs: dict[int, int]
    sign: int
    unit: Fraction
    offset: Fraction

    def objective(self, inner: Fraction | int) -> Fraction | int:
        """Return the model's objective for the value `inner` of `sum(costs * x)`."""
        value = self.offset + self.sign * self.unit * inner
        return int(value) if value.denominator == 1 else value

    def inner(self, values: list[int]) -> int:
        """Return `sum(costs * x)`."""
        return sum(cost * values[j] for j, cost in self.costs.items())


def integer_form(form: StandardForm) -> IntegerForm:
    """Read a compiled model exactly.

    Rows are multiplied by the least common denominator of their coefficients and divided by the
    greatest common divisor; their bounds and the columns' are then rounded inward to integers.

    Raises
    ------
    ModelRefused
        If a column is continuous, or a number is known only as a double that may have been rounded.
    TriviallyInfeasibleError
        If no integer lies between the bounds of a column or row.
    """
    continuous = np.flatnonzero(~form.integer)
    if continuous.size:
        name = form.columns[continuous[0]].name
        raise ModelRefused(f"{name} is continuous; CP-SAT takes integers only")
    names = [v.name for v in form.columns]
    reader = ExactReader(form)
    bounds = [reader.bounds(j) for j in range(len(names))]
    lower = [None if low is None else math.ceil(low) for low, _ in bounds]
    upper = [None if high is None else math.floor(high) for _, high in bounds]
    for name, low, high in zip(names, lower, upper, strict=True):
        _check_order(name, low, high)
    rows = [
        row
        for i in range(len(form.rows))
        if (row := _integer_row(reader, i, lower, upper)) is not None
    ]
    sign = -1 if form.sense == "max" else 1
    exact_costs = reader.costs()
    costs, scale = _integers(list(exact_costs.values()))
    return IntegerForm(
        names=names,
        lower=lower,
        upper=upper,
        rows=rows,
        costs={j: sign * cost for j, cost in zip(exact_costs, costs, strict=True)},
        sign=sign,
        unit=1 / scale,
        offset=Fraction(reader.offset()),
    )


def _integer_row(
    reader: ExactReader, i: int, lower: list[int | None], upper: list[int | None]
) -> IntegerRow | None:
    """Return a row scaled to integers; None if it has no columns."""
    row = reader.row(i)
    name = reader.form.rows[i].name
    coefficients, scale = _integers(row.coefficients)
    reach: int | None = None
    if any(isinstance(side, float) and math.isfinite(side) for side in (row.lower, row.upper)):
        reach = _reach(row.columns, coefficients, lower, upper)
    low = _scaled(name, row.lower, scale, reach, math.ceil)
    high = _scaled(name, row.upper, scale, reach, math.floor)
    _check_order(name, low, high)
    if not coefficients:
        if (low or 0) > 0 or (high or 0) < 0:
            raise TriviallyInfeasibleError(f"{name}: 0 is not between {low} and {high}")
        return None
    return IntegerRow(name, row.columns, coefficients, low, high)


def _reach(
    columns: list[int], coefficients: list[int], lower: list[int | None], upper: list[int | None]
) -> int | None:
    """Return the largest absolute value of a sum of terms; None if a column has no bound."""
    total = 0
    for j, a in zip(columns, coefficients, strict=True):
        low, high = lower[j], upper[j]
        if low is None or high is None:
            return None
        total += abs(a) * max(-low, high)
    return total


def _scaled(
    name: str,
    side: Side,
    scale: Fraction,
    reach: int | None,
    rounded: Callable[[Fraction], int],
) -> int | None:
    """Return a side as an integer; a double of 2^53 or more must be unreachable for the row."""
    if isinstance(side, float):
        if math.isinf(side):
            return None
        if reach is None or reach >= scale * LARGEST_EXACT:
            raise ModelRefused(
                f"{name}: a side of 2^53 or more, where doubles no longer hold every integer, "
                "cannot be taken as exact"
            )
        return rounded(scale * Fraction(side))
    return rounded(scale * side)


def _integers(values: list[Exact]) -> tuple[list[int], Fraction]:
    """Return coprime integers proportional to `values`, and the factor."""
    denominator = math.lcm(*(x.denominator for x in values))
    whole = [x.numerator * (denominator // x.denominator) for x in values]
    divisor = math.gcd(*whole) or 1
    if divisor > 1:
        whole = [a // divisor for a in whole]
    return whole, Fraction(denominator, divisor)


def _check_order(name: str, low: int | None, high: int | None) -> None:
    if low is not None and high is not None and low > high:
        raise TriviallyInfeasibleError(f"{name}: no integers satisfy it")


def satisfies(form: IntegerForm, values: list[int]) -> bool:
    """Return True if integers satisfy every row and bound exactly."""
    return all(
        _between(low, x, high) for low, x, high in zip(form.lower, values, form.upper, strict=True)
    ) and all(_between(row.lower, _activity(row, values), row.upper) for row in form.rows)


def is_improving_ray(form: IntegerForm, direction: list[Fraction]) -> bool:
    """Return True if `direction` is exactly an improving ray that violates no bound."""
    improvement = sum(cost * direction[j] for j, cost in form.costs.items())
    if improvement >= 0:
        return False
    # Each existing side of a row or column becomes zero.
    return all(
        _between(low and 0, d, high and 0)
        for low, d, high in zip(form.lower, direction, form.upper, strict=True)
    ) and all(
        _between(row.lower and 0, _activity(row, direction), row.upper and 0) for row in form.rows
    )


def _activity(row: IntegerRow, values: Sequence[Fraction | int]) -> Fraction | int:
    return sum(a * values[j] for a, j in zip(row.coefficients, row.columns, strict=True))


def _between(low: int | None, x: Fraction | int, high: int | None) -> bool:
    return (low is None or low <= x) and (high is None or x <= high)
