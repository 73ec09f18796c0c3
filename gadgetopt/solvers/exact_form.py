"""A standard form read as exact numbers.

A double of the arrays stands for the simplest rational that rounds to it. If the model's exact
number is different, such as an integer of 20 digits or a sum of decimals, the form stores it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import simplest_rational
from gadgetopt.solvers.linear_terms import LARGEST_EXACT, Exact, too_large

if TYPE_CHECKING:
    from gadgetopt.solvers.standard_form import StandardForm

#: A side of a row: exact, or a double that is infinite (no side) or of 2^53 or more, in which an
#: integer may have been rounded.
Side = Exact | float


@dataclass(frozen=True)
class ExactRow:
    """`lower <= sum(coefficients * x[columns]) <= upper`; coefficients are not zero."""

    columns: list[int]
    coefficients: list[Exact]
    lower: Side
    upper: Side


@dataclass(frozen=True)
class ExactParts:
    """Numbers of a standard form that are not the simplest rational that rounds to their double.

    Attributes
    ----------
    rows : dict of int to ExactRow
    costs : dict of int to Exact, or None
        All nonzero costs by column.
    offset : Exact or None
    col_lower, col_upper : dict of int to Exact
        Bounds by column.
    inexact : dict of int to str
        Reasons by row, for rows that are known only in doubles; -1 is the objective.
    """

    rows: Mapping[int, ExactRow] = field(default_factory=dict)
    costs: Mapping[int, Exact] | None = None
    offset: Exact | None = None
    col_lower: Mapping[int, Exact] = field(default_factory=dict)
    col_upper: Mapping[int, Exact] = field(default_factory=dict)
    inexact: Mapping[int, str] = field(default_factory=dict)


#: The key of the objective in `inexact`. By definition.
OBJECTIVE = -1


class ExactReader:
    """Reads the rows, bounds and objective of a standard form as exact numbers.

    Every method raises `ModelRefused` if a number is known only as a double that may be rounded.
    """

    def __init__(self, form: StandardForm):
        self.form = form
        self._parts = form.exact
        self._read: dict[float, Exact] = {}

    # Lists of the standard library: a slice of an array costs as much as a short row.

    @cached_property
    def _matrix(self) -> tuple[list[int], list[int], list[float]]:
        """Where rows start, and their columns and entries."""
        matrix = self.form.A
        return matrix.indptr.tolist(), matrix.indices.tolist(), matrix.data.tolist()

    @cached_property
    def _row_sides(self) -> tuple[list[float], list[float]]:
        return self.form.row_lower.tolist(), self.form.row_upper.tolist()

    @cached_property
    def _column_sides(self) -> tuple[list[float], list[float]]:
        return self.form.col_lower.tolist(), self.form.col_upper.tolist()

    def row(self, i: int) -> ExactRow:
        """Return a row."""
        if i in self._parts.inexact:
            raise ModelRefused(f"{self.form.rows[i].name}: {self._parts.inexact[i]}")
        if i in self._parts.rows:
            return self._parts.rows[i]
        form = self.form
        starts, columns, entries = self._matrix
        span = slice(starts[i], starts[i + 1])
        return ExactRow(
            columns[span],
            self._numbers(entries[span], form.rows[i]),
            self._side(self._row_sides[0][i]),
            self._side(self._row_sides[1][i]),
        )

    def costs(self) -> dict[int, Exact]:
        """Return the nonzero costs by column."""
        if OBJECTIVE in self._parts.inexact:
            raise ModelRefused(f"the objective: {self._parts.inexact[OBJECTIVE]}")
        if self._parts.costs is not None:
            return dict(self._parts.costs)
        form = self.form
        return {
            j: self._number(x, form.columns[j]) for j, x in enumerate(form.c.tolist()) if x != 0
        }

    def offset(self) -> Exact:
        """Return the constant of the objective."""
        if OBJECTIVE in self._parts.inexact:
            raise ModelRefused(f"the objective: {self._parts.inexact[OBJECTIVE]}")
        if self._parts.offset is not None:
            return self._parts.offset
        if abs(self.form.offset) >= LARGEST_EXACT:
            raise ModelRefused(f"the objective: its constant {too_large(self.form.offset)}")
        return simplest_rational(self.form.offset)

    def bounds(self, j: int) -> tuple[Exact | None, Exact | None]:
        """Return the bounds of a column, None for a missing one."""
        return (
            self._bound(j, self._column_sides[0][j], self._parts.col_lower),
            self._bound(j, self._column_sides[1][j], self._parts.col_upper),
        )

    def _bound(self, j: int, x: float, known: Mapping[int, Exact]) -> Exact | None:
        if j in known:
            return known[j]
        return None if math.isinf(x) else self._number(x, self.form.columns[j])

    def _side(self, x: float) -> Side:
        return x if abs(x) >= LARGEST_EXACT else self._number(x, None)

    def _numbers(self, numbers: list[float], owner: object) -> list[Exact]:
        if (
            all(map(float.is_integer, numbers))
            and max(map(abs, numbers), default=0) < LARGEST_EXACT
        ):
            return list(map(int, numbers))
        return [self._number(x, owner) for x in numbers]

    def _number(self, x: float, owner: object) -> Exact:
        if x.is_integer():
            if abs(x) >= LARGEST_EXACT:
                raise ModelRefused(f"{getattr(owner, 'name', 'a row')}: {too_large(x)}")
            return int(x)
        known = self._read.get(x)
        if known is None:
            known = self._read[x] = simplest_rational(x)
        return known


def weighted_sum(row: ExactRow, values: Sequence[Exact]) -> Exact:
    """Return the sum of a row's coefficients times the values of its columns."""
    total: Exact = 0
    for j, a in zip(row.columns, row.coefficients, strict=True):
        total += a * values[j]
    return total


def row_without_integers(form: StandardForm) -> str | None:
    """Return the name of a row over integer columns that no integers satisfy, None without one.

    It has two sides, between which no multiple of its coefficients' divisor lies: 6 x - 9 y = 5. A
    search over integers without bounds might never end.
    """
    lengths = np.diff(form.A.indptr)
    of_row = np.repeat(np.arange(len(form.rows)), lengths)
    mixed = np.bincount(of_row, ~form.integer[form.A.indices], minlength=len(form.rows)) > 0
    both = np.isfinite(form.row_lower) & np.isfinite(form.row_upper)
    reader = None
    for i in np.flatnonzero(both & ~mixed & (lengths > 0)).tolist():
        if i not in form.exact.rows and form.row_lower[i] == np.rint(form.row_lower[i]):
            entries = np.abs(form.A.data[form.A.indptr[i] : form.A.indptr[i + 1]])
            if (entries == 1).any():  # the divisor is 1, or 1 over something
                continue
        reader = reader or ExactReader(form)
        if _is_empty(reader, i):
            return str(form.rows[i].name)
    return None


def _is_empty(reader: ExactReader, i: int) -> bool:
    """Return True if no multiple of a row's divisor lies between its sides."""
    try:
        row = reader.row(i)
    except ModelRefused:  # known in doubles only
        return False
    if isinstance(row.lower, float) or isinstance(row.upper, float) or not row.coefficients:
        return False
    unit = math.lcm(*(a.denominator for a in row.coefficients))
    divisor = Fraction(math.gcd(*(int(a * unit) for a in row.coefficients)), unit)
    return math.ceil(row.lower / divisor) > math.floor(row.upper / divisor)
