"""A compiled model read as an exact model: what proofs are about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, cast

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.proofs.model import Form, Model, Row
from gadgetopt.solvers.exact_form import ExactReader
from gadgetopt.solvers.linear_terms import LARGEST_EXACT

if TYPE_CHECKING:
    from gadgetopt.solvers.exact_form import Side
    from gadgetopt.solvers.linear_terms import Exact
    from gadgetopt.solvers.standard_form import StandardForm

_Ends = list[int | Fraction | None]


def exact_model(form: StandardForm) -> Model:
    """Return the exact model of a compiled one, as a minimisation.

    A side or bound that is known only as a double that may have been rounded is left out, and so is
    a row with such a coefficient. This only removes restrictions: a bound on the exact model holds
    for the compiled one.

    Raises
    ------
    ModelRefused
        If the objective is not known exactly.
    """
    reader = ExactReader(form)
    costs, scale = _costs(reader)
    lower, upper = _whole_bounds(form) or _all_bounds(reader)
    return Model(
        integer=form.integer.tolist(),
        lower=lower,
        upper=upper,
        rows=_whole_rows(form) or [_row(reader, i) for i in range(len(form.rows))],
        costs=costs,
        scale=scale,
        offset=reader.offset(),
        sense=form.sense,
    )


def has_all_of(model: Model, form: StandardForm) -> bool:
    """Return True if the exact model of a compiled one left none of its restrictions out."""
    pairs = (
        (form.col_lower, model.lower),
        (form.col_upper, model.upper),
        (form.row_lower, [row.lower for row in model.rows]),
        (form.row_upper, [row.upper for row in model.rows]),
    )
    return not form.exact.inexact and all(
        np.array_equal(np.isfinite(sides), [x is not None for x in known]) for sides, known in pairs
    )


def with_rounded_costs(model: Model, least: Fraction, error: Fraction) -> Fraction:
    """Return a bound that holds for all costs within a relative error of a model's.

    Parameters
    ----------
    least : Fraction
        A bound on `sum(costs * x)`.
    error : Fraction
        Most distance of a true cost, and of the offset, from the model's, over the model's.

    Raises
    ------
    ValueError
        If a column without a bound makes the effect of the error infinite.
    """
    columns, costs = model.costs
    ends = [(a, model.lower[j], model.upper[j]) for j, a in zip(columns, costs, strict=True)]
    offset = abs(Fraction(model.offset)) * model.scale
    one_sign = all(low is not None and low >= 0 for _, low, _ in ends)
    if one_sign and (all(a > 0 for a, _, _ in ends) or all(a < 0 for a, _, _ in ends)):
        return least - error * (abs(least) + offset)
    total = Fraction(offset)
    for a, low, high in ends:
        if low is None or high is None:
            raise ValueError("its objective is rounded, and a column of it has no bound")
        total += abs(a) * max(abs(Fraction(low)), abs(Fraction(high)))
    return least - error * total


def _costs(reader: ExactReader) -> tuple[Form, int]:
    form = reader.form
    whole = None if form.exact.costs is not None or form.exact.inexact else _integers(form.c)
    if whole is not None:  # most models
        sign = -1 if form.sense == "max" else 1
        pairs = [(j, sign * a) for j, a in enumerate(whole) if a]
        return ([j for j, _ in pairs], [a for _, a in pairs]), 1
    exact = reader.costs()
    numbers, scale = _over_one_denominator(list(exact.values()))
    sign = -1 if reader.form.sense == "max" else 1
    pairs = sorted((j, sign * a) for j, a in zip(exact, numbers, strict=True) if a)
    return ([j for j, _ in pairs], [a for _, a in pairs]), scale


def _whole_rows(form: StandardForm) -> list[Row] | None:
    """Return the rows of a form if all numbers in them are integers, which is most models."""
    if form.exact.rows or form.exact.inexact:
        return None
    numbers, low, high = map(_integers, (form.A.data, form.row_lower, form.row_upper))
    if numbers is None or low is None or high is None:
        return None
    entries = cast("list[int]", numbers)
    columns, starts = form.A.indices.tolist(), form.A.indptr.tolist()
    parts = [slice(begin, end) for begin, end in pairwise(starts)]
    own, their = map(columns.__getitem__, parts), map(entries.__getitem__, parts)
    return list(map(Row._make, zip(own, their, low, high, repeat(1))))


def _whole_bounds(form: StandardForm) -> tuple[_Ends, _Ends] | None:
    """Return the bounds of the columns of a form if all of them are integers."""
    if form.exact.col_lower or form.exact.col_upper:
        return None
    low, high = _integers(form.col_lower), _integers(form.col_upper)
    return None if low is None or high is None else (cast(_Ends, low), cast(_Ends, high))


def _integers(numbers: Floats) -> list[int | None] | None:
    """Return integers, None for an infinite number; None if others are among them.

    Those in which an integer may have been rounded are such others.
    """
    # Lists are no slower than arrays here, and much faster where they are short.
    values = numbers.tolist()
    finite = [x for x in values if -LARGEST_EXACT < x < LARGEST_EXACT]
    whole: list[int | None] = list(map(int, finite))
    if whole != finite:
        return None
    if len(whole) == len(values):
        return whole
    endless = values.count(math.inf) + values.count(-math.inf)
    if len(whole) + endless < len(values):
        return None
    return [None if math.isinf(x) else int(x) for x in values]


def _all_bounds(reader: ExactReader) -> tuple[_Ends, _Ends]:
    bounds = [_bounds(reader, j, whole) for j, whole in enumerate(reader.form.integer.tolist())]
    return [low for low, _ in bounds], [high for _, high in bounds]


def _bounds(
    reader: ExactReader, j: int, integer: bool
) -> tuple[int | Fraction | None, int | Fraction | None]:
    try:
        low, high = reader.bounds(j)
    except ModelRefused:
        return None, None
    if integer:
        return (
            None if low is None else math.ceil(low),
            None if high is None else math.floor(high),
        )
    return low, high


def _row(reader: ExactReader, i: int) -> Row:
    try:
        row = reader.row(i)
    except ModelRefused:
        return Row([], [], None, None, 1)
    sides = (_known(row.lower), _known(row.upper))
    known = [x for x in sides if x is not None]
    numbers, denominator = _over_one_denominator([*row.coefficients, *known])
    count = len(row.columns)
    high = None if sides[1] is None else numbers.pop()
    low = None if sides[0] is None else numbers.pop()
    return Row(list(row.columns), numbers[:count], low, high, denominator)


def _known(side: Side) -> Exact | None:
    """Return a side; None for a missing one, or a double that may have been rounded."""
    return None if isinstance(side, float) else side


def _over_one_denominator(numbers: Sequence[Exact]) -> tuple[list[int], int]:
    """Return integers and the denominator over which they are the given numbers."""
    if set(map(type, numbers)) <= {int}:
        return cast("list[int]", list(numbers)), 1
    denominator = math.lcm(*(x.denominator for x in numbers))
    return [x.numerator * (denominator // x.denominator) for x in numbers], denominator
