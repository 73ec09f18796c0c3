r"""A linear program in integers, and points of it that are checked in integers.

.. math:: \min c x \quad L \le A x \le U, \quad l \le x \le u

Each row of a compiled model is multiplied by its common denominator, the columns by that of their
bounds, the costs by theirs; a maximisation changes its sign. Points have one denominator for all
values and one for all duals, so that sums are of integers, of 64 bits where none can overflow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.numbers.exact_vertex import Integers, integers, square_system
from gadgetopt.solvers.exact_form import ExactReader
from gadgetopt.solvers.linear_terms import LARGEST_EXACT, Exact

if TYPE_CHECKING:
    from gadgetopt.solvers.standard_form import StandardForm

#: Sums of absolute values below 2**WORD_BITS are added in 64-bit integers. By definition.
WORD_BITS = 62


@dataclass(frozen=True)
class Sides:
    """Numbers that may be missing: 0 where `known` is False."""

    known: Bools
    numbers: Integers

    def times(self, factor: int) -> Integers:
        """Return the numbers times a factor."""
        return self.numbers * factor


@dataclass(frozen=True)
class Places:
    """A basis: where columns and rows are, -1 at the lower side, 0 basic, 1 at the upper.

    Attributes
    ----------
    columns : ndarray of int, shape (columns,)
    rows : ndarray of int, shape (rows,)
    """

    columns: Ints
    rows: Ints


@dataclass(frozen=True)
class Point:
    """Values x and row duals y of an `ExactLp`, and what follows from them.

    Attributes
    ----------
    values, activities : ndarray of int, shape (columns,) and (rows,)
        x and A x, times `denominator`.
    denominator : int
    duals, reduced : ndarray of int, shape (rows,) and (columns,)
        y and c - y A, times `dual_denominator`.
    dual_denominator : int
    """

    values: Integers
    activities: Integers
    denominator: int
    duals: Integers
    reduced: Integers
    dual_denominator: int


@dataclass(frozen=True)
class ExactLp:
    """A linear program whose numbers are integers.

    Attributes
    ----------
    starts, indices, data : ndarray
        The rows one after the other: where each begins (with the end of the last), columns,
        coefficients.
    low, high : Sides, shape (rows,)
    col_low, col_high : Sides, shape (columns,)
    costs : ndarray of int, shape (columns,)
    row_units : list of int
        What each row was multiplied by, beside `unit`.
    unit : int
        What the columns, and so all sides, were multiplied by.
    cost_unit : int
        What the costs were multiplied by, with the sign of the sense.
    """

    starts: Ints
    indices: Ints
    data: Integers
    low: Sides
    high: Sides
    col_low: Sides
    col_high: Sides
    costs: Integers
    row_units: list[int]
    unit: int
    cost_unit: int

    @cached_property
    def _row_of(self) -> Ints:
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def _by_column(self) -> tuple[Ints, Ints]:
        """The entries in the order of columns, and where each column begins."""
        order = np.argsort(self.indices, kind="stable")
        counts = np.bincount(self.indices, minlength=len(self.costs))
        return order, np.concatenate(([0], np.cumsum(counts)))

    @cached_property
    def _data_bits(self) -> int:
        return _bits(self.data)

    @cached_property
    def _words(self) -> Ints | None:
        """The coefficients in 64-bit integers, if they fit."""
        return self.data.astype(np.int64) if self._data_bits <= WORD_BITS else None

    def times(self, x: Integers) -> Integers:
        """Return A x for integers x, shape (columns,)."""
        return self._sums(x[self.indices], self.starts, None)

    def transposed_times(self, y: Integers) -> Integers:
        """Return y A for integers y, shape (rows,)."""
        order, starts = self._by_column
        return self._sums(y[self._row_of[order]], starts, order)

    def _sums(self, factors: Integers, starts: Ints, order: Ints | None) -> Integers:
        """Return the sums of entries times factors, from each start to the next."""
        out = integers([0] * (len(starts) - 1))
        filled = np.flatnonzero(np.diff(starts))
        if not filled.size:
            return out
        words, longest = self._words, int(np.diff(starts).max()).bit_length()
        if words is not None and _bits(factors) + self._data_bits + longest <= WORD_BITS:
            entries = words if order is None else words[order]
            sums = np.add.reduceat(entries * factors.astype(np.int64), starts[filled])
            out[filled] = sums.astype(object)
        else:
            data = self.data if order is None else self.data[order]
            out[filled] = np.add.reduceat(data * factors, starts[filled])
        return out

    def vertex(self, places: Places) -> Point | None:
        """Return the point of a basis; None if it is none, or not found."""
        basic = np.flatnonzero(places.columns == 0)
        tight = np.flatnonzero(places.rows != 0)
        values = _at(places.columns, self.col_low, self.col_high)
        sides = _at(places.rows, self.low, self.high, strict=True)
        if len(basic) != len(tight) or values is None or sides is None:
            return None
        values[basic] = 0
        if not len(basic):
            return self.point(values, 1, integers([0] * len(self.row_units)), 1)
        right = (sides - self.times(values))[tight]
        # Entries are found again by their numbers, from 1.
        shape = (len(self.row_units), len(self.costs))
        numbers = csr_array((np.arange(1, len(self.data) + 1), self.indices, self.starts), shape)
        inside = numbers[tight][:, basic]
        if not np.diff(inside.indptr).all():
            return None
        system = square_system(
            inside.indptr[:-1].astype(np.int64), inside.indices, self.data[inside.data - 1]
        )
        solved = None if system is None else system.solve(right)
        if system is None or solved is None:
            return None
        priced = system.solve(self.costs[basic], transposed=True)
        if priced is None:
            return None
        values = values * solved[1]
        values[basic] = solved[0]
        duals = integers([0] * len(self.row_units))
        duals[tight] = priced[0]
        return self.point(values, solved[1], duals, priced[1])

    def point(
        self, values: Integers, denominator: int, duals: Integers, dual_denominator: int
    ) -> Point:
        """Return values and duals with what follows from them."""
        reduced = self.costs * dual_denominator - self.transposed_times(duals)
        return Point(values, self.times(values), denominator, duals, reduced, dual_denominator)


@dataclass(frozen=True)
class Faults:
    """By how much a point is not optimal: 0 everywhere if it is.

    Attributes
    ----------
    columns, rows : ndarray of int
        How far values and activities are beyond their sides, times the point's `denominator`.
    reduced, duals : ndarray of int
        Those of the wrong sign, times the point's `dual_denominator`.
    """

    columns: Integers
    rows: Integers
    reduced: Integers
    duals: Integers

    @property
    def none(self) -> bool:
        """True if the point is feasible, its duals too, and they meet (complementary slackness)."""
        every = (self.columns, self.rows, self.reduced, self.duals)
        return not any(x.any() for x in every)


def faults(lp: ExactLp, point: Point) -> Faults:
    """Return what a point violates of the conditions of optimality."""
    columns = _beyond(point.values, lp.col_low, lp.col_high, point.denominator)
    rows = _beyond(point.activities, lp.low, lp.high, point.denominator)
    return Faults(
        columns,
        rows,
        _wrong(point.reduced, point.values, lp.col_low, lp.col_high, point.denominator),
        _wrong(point.duals, point.activities, lp.low, lp.high, point.denominator),
    )


def _beyond(x: Integers, low: Sides, high: Sides, denominator: int) -> Integers:
    below = np.where(low.known, low.times(denominator) - x, 0)
    above = np.where(high.known, x - high.times(denominator), 0)
    return np.maximum(np.maximum(below, above), 0)


def _wrong(slopes: Integers, x: Integers, low: Sides, high: Sides, denominator: int) -> Integers:
    """Return the sizes of slopes that are not 0 and along which x could fall."""
    may_fall = ~low.known | (x > low.times(denominator))
    may_rise = ~high.known | (x < high.times(denominator))
    wrong = ((slopes > 0) & may_fall) | ((slopes < 0) & may_rise)
    return np.where(wrong.astype(bool), abs(slopes), 0)


def exact_lp(form: StandardForm) -> ExactLp | None:
    """Return a compiled model without integer columns in integers, None if a number is not exact.

    Such a number is known only as a double that may have been rounded.
    """
    reader = ExactReader(form)
    try:
        costs = reader.costs()
        reader.offset()
        col_low, col_high = _bounds(form, reader, 0), _bounds(form, reader, 1)
        rows = _rows(form, reader)
        unit = common_denominator(Fraction(x) for x in (*col_low.values(), *col_high.values()))
        cost_unit = common_denominator(Fraction(a) for a in costs.values())
    except (ModelRefused, ValueError):
        return None
    sign = -1 if form.sense == "max" else 1
    weights = integers([0] * len(form.columns))
    for j, a in costs.items():
        weights[j] = int(sign * a * cost_unit)
    return ExactLp(
        starts=form.A.indptr.astype(np.int64),
        indices=form.A.indices.astype(np.int64),
        data=rows.data,
        low=Sides(np.isfinite(form.row_lower), rows.lower * unit),
        high=Sides(np.isfinite(form.row_upper), rows.upper * unit),
        col_low=_column_sides(form.col_lower, col_low, unit),
        col_high=_column_sides(form.col_upper, col_high, unit),
        costs=weights,
        row_units=rows.units,
        unit=unit,
        cost_unit=sign * cost_unit,
    )


@dataclass(frozen=True)
class _IntegerRows:
    data: Integers
    lower: Integers
    upper: Integers
    units: list[int]


def _rows(form: StandardForm, reader: ExactReader) -> _IntegerRows:
    """Return the rows in integers; raise `ModelRefused` or `ValueError` if that is impossible."""
    starts = form.A.indptr
    whole = _whole(form.row_lower) & _whole(form.row_upper)
    filled = np.flatnonzero(np.diff(starts))
    if filled.size:
        whole[filled] &= np.logical_and.reduceat(_whole(form.A.data), starts[filled])
    whole[[*form.exact.rows, *(i for i in form.exact.inexact if i >= 0)]] = False
    units = [1] * len(form.rows)
    data = np.where(np.repeat(whole, np.diff(starts)), form.A.data, 0.0).astype(np.int64)
    lower, upper = (
        np.where(whole & np.isfinite(side), side, 0.0).astype(np.int64)
        for side in (form.row_lower, form.row_upper)
    )
    out = _IntegerRows(data.astype(object), lower.astype(object), upper.astype(object), units)
    for i in np.flatnonzero(~whole).tolist():
        row = reader.row(i)
        sides = [row.lower, row.upper]
        if any(isinstance(x, float) and math.isfinite(x) for x in sides):
            raise ModelRefused("a side of a row is a double that may have been rounded")
        known = [Fraction(0) if isinstance(x, float) else Fraction(x) for x in sides]
        unit = common_denominator((*row.coefficients, *known))
        place = {j: k for k, j in enumerate(form.A.indices[starts[i] : starts[i + 1]].tolist())}
        for j, a in zip(row.columns, row.coefficients, strict=True):
            out.data[starts[i] + place[j]] = a.numerator * (unit // a.denominator)
        out.lower[i], out.upper[i] = (int(x * unit) for x in known)
        units[i] = unit
    return out


def _whole(numbers: Floats) -> Bools:
    """Return which doubles are integers that are exact, or infinite."""
    exact: Bools = (np.rint(numbers) == numbers) & (np.abs(numbers) < LARGEST_EXACT)
    return exact | np.isinf(numbers)


def _bounds(form: StandardForm, reader: ExactReader, side: int) -> dict[int, Exact]:
    """Return the bounds of columns that are not 0."""
    doubles = (form.col_lower, form.col_upper)[side]
    exact = (form.exact.col_lower, form.exact.col_upper)[side]
    wanted = {*np.flatnonzero(np.isfinite(doubles) & (doubles != 0)).tolist(), *exact}
    bounds = {j: reader.bounds(j)[side] for j in wanted}
    return {j: x for j, x in bounds.items() if x is not None}


def _column_sides(doubles: Floats, given: dict[int, Exact], unit: int) -> Sides:
    known, numbers = np.isfinite(doubles), integers([0] * len(doubles))
    for j, x in given.items():
        known[j], numbers[j] = True, int(x * unit)
    return Sides(known, numbers)


def _at(places: Ints, low: Sides, high: Sides, *, strict: bool = False) -> Integers | None:
    """Return the side at which each is, 0 where there is none; None if `strict` and one has none.

    Those that are said to be at a side that they do not have are at the other.
    """
    above = high.known & ((places == 1) | ~low.known)
    if strict and (~(low.known | high.known) & (places != 0)).any():
        return None
    return np.where(above, high.numbers, low.numbers)


def _bits(numbers: Integers) -> int:
    return (
        max(int(numbers.max()).bit_length(), int(numbers.min()).bit_length()) if numbers.size else 0
    )
