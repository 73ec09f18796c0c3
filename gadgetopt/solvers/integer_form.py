"""A standard form over integer variables, read and scaled to integers exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers import simplest_rational
from gadgetopt.solvers.standard_form import Floats, StandardForm, TriviallyInfeasibleError

#: Doubles hold every integer below this, and not every one beyond.
LARGEST_EXACT = 2.0**53


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
        Cost by column, zeros left out.
    sign : int
        -1 where the model maximises: then `costs` are negated.
    unit : Fraction
        What a unit of `sum(costs * x)` is worth in the model's objective, positive.
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
        """Return the model's objective where `sum(costs * x)` is `inner`."""
        value = self.offset + self.sign * self.unit * inner
        return int(value) if value.denominator == 1 else value

    def inner(self, values: list[int]) -> int:
        """Return `sum(costs * x)`."""
        return sum(cost * values[j] for j, cost in self.costs.items())


def integer_form(form: StandardForm) -> IntegerForm:
    """Read a compiled model exactly: every number as the simplest rational that rounds to it.

    Rows are multiplied by the least common denominator of their coefficients and divided by the
    greatest common divisor; their bounds and the columns' are then rounded inward to integers.

    Raises
    ------
    ModelRefused
        If a column is continuous.
    TriviallyInfeasibleError
        If no integer lies between the bounds of a column or row.
    """
    continuous = np.flatnonzero(~form.integer)
    if continuous.size:
        name = form.columns[continuous[0]].name
        raise ModelRefused(f"{name} is continuous; CP-SAT takes integers only")
    names = [v.name for v in form.columns]
    _check_exact(form, names)
    read: dict[float, Fraction] = {}
    lower = [_rounded_up(x) for x in form.col_lower.tolist()]
    upper = [_rounded_down(x) for x in form.col_upper.tolist()]
    for name, low, high in zip(names, lower, upper, strict=True):
        _check_order(name, low, high)
    rows = []
    data, indices, starts = form.A.data, form.A.indices.tolist(), form.A.indptr.tolist()
    bounds = zip(form.row_lower.tolist(), form.row_upper.tolist(), strict=True)
    for i, (row_lower, row_upper) in enumerate(bounds):
        span = slice(starts[i], starts[i + 1])
        coefficients, scale = _integers(data[span], read)
        low = _rounded_up(row_lower, scale)
        high = _rounded_down(row_upper, scale)
        name = form.rows[i].name
        sides = [x for x in (row_lower, row_upper) if math.isfinite(x)]
        if any(abs(x) >= LARGEST_EXACT for x in sides):
            columns = indices[span]
            _check_reach(
                name, [lower[j] for j in columns], [upper[j] for j in columns], coefficients, scale
            )
        _check_order(name, low, high)
        if not coefficients:
            if (low or 0) > 0 or (high or 0) < 0:
                raise TriviallyInfeasibleError(f"{name}: 0 is not between {low} and {high}")
            continue
        rows.append(IntegerRow(name, indices[span], coefficients, low, high))
    sign = -1 if form.sense == "max" else 1
    used = np.flatnonzero(form.c)
    costs, scale = _integers(form.c[used], read)
    return IntegerForm(
        names=names,
        lower=lower,
        upper=upper,
        rows=rows,
        costs={j: sign * cost for j, cost in zip(used.tolist(), costs, strict=True)},
        sign=sign,
        unit=1 / scale,
        offset=simplest_rational(form.offset),
    )


def _check_exact(form: StandardForm, names: list[str]) -> None:
    """Refuse numbers so large that an integer may have been rounded on its way into a double."""
    rows = [row.name for row in form.rows]
    for values, owners in (
        (form.c, names),
        (form.col_lower, names),
        (form.col_upper, names),
        (form.A.data, None),
    ):
        large = np.flatnonzero(np.isfinite(values) & (np.abs(values) >= LARGEST_EXACT))
        if large.size:
            k = int(large[0])
            owner = (
                rows[int(np.searchsorted(form.A.indptr, k, side="right")) - 1]
                if owners is None
                else owners[k]
            )
            raise ModelRefused(
                f"{owner}: {values[k]:.17g} is 2^53 or more, where doubles no longer hold every "
                "integer, so it cannot be taken as exact"
            )


def _check_reach(
    name: str,
    lower: list[int | None],
    upper: list[int | None],
    coefficients: list[int],
    scale: Fraction,
) -> None:
    """Refuse a row with a side of 2^53 or more, unless its sum stays far from it."""
    ranges = zip(coefficients, lower, upper, strict=True)
    terms = [None if low is None or up is None else abs(a) * max(-low, up) for a, low, up in ranges]
    known = [term for term in terms if term is not None]
    if len(known) < len(terms) or sum(known) >= scale * int(LARGEST_EXACT):
        raise ModelRefused(
            f"{name}: a side of 2^53 or more, where doubles no longer hold every integer, cannot "
            "be taken as exact"
        )


def _integers(numbers: Floats, read: dict[float, Fraction]) -> tuple[list[int], Fraction]:
    """Return coprime integers in the ratio of `numbers`, and the factor that makes them so."""
    values = numbers.tolist()
    if all(x.is_integer() for x in values):
        whole = [int(x) for x in values]
        denominator = 1
    else:
        for x in values:
            if x not in read:
                read[x] = simplest_rational(x)
        fractions = [read[x] for x in values]
        denominator = math.lcm(*(f.denominator for f in fractions))
        whole = [f.numerator * (denominator // f.denominator) for f in fractions]
    divisor = math.gcd(*whole) or 1
    if divisor > 1:
        whole = [a // divisor for a in whole]
    return whole, Fraction(denominator, divisor)


def _rounded_up(x: float, scale: Fraction = Fraction(1)) -> int | None:
    return math.ceil(scale * simplest_rational(x)) if math.isfinite(x) else None


def _rounded_down(x: float, scale: Fraction = Fraction(1)) -> int | None:
    return math.floor(scale * simplest_rational(x)) if math.isfinite(x) else None


def _check_order(name: str, low: int | None, high: int | None) -> None:
    if low is not None and high is not None and low > high:
        raise TriviallyInfeasibleError(f"{name}: no integers satisfy it")


def satisfies(form: IntegerForm, values: list[int]) -> bool:
    """Say whether integers satisfy every row and bound, exactly."""
    return all(
        _between(low, x, high) for low, x, high in zip(form.lower, values, form.upper, strict=True)
    ) and all(_between(row.lower, _activity(row, values), row.upper) for row in form.rows)


def is_improving_ray(form: IntegerForm, direction: list[Fraction]) -> bool:
    """Say whether going along `direction` for ever leaves no bound and improves, exactly."""
    improvement = sum(cost * direction[j] for j, cost in form.costs.items())
    if improvement >= 0:
        return False
    # A side of a row or column that exists becomes a zero.
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
