"""Approximate duals moved to exact ones, where columns without bounds leave no room.

The reduced cost of a column has to be 0 where it has no bounds, and of one sign where it has one.
Rounded duals miss that by a little. They are rounded to binary digits here, and then moved by the
solution of a square system, with one equation for each column whose reduced cost is wrong and one
unknown for each of as many rows: it is exact, small, and its denominator is that of few equations,
where that of a whole basis may have thousands of digits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.exact_vertex import solve_exactly
from gadgetopt.solvers.exact_form import ExactReader

if TYPE_CHECKING:
    from gadgetopt.solvers.standard_form import StandardForm

#: Binary digits to which duals are rounded first. Tuned: `benchmarks/constants.py`.
DIGITS = 40
#: Duals below this keep their sign only by chance when they are moved.
#: Tuned: `benchmarks/constants.py`.
SMALL = 1e-6
#: How often columns whose reduced costs became wrong are added to the system, and its largest size.
#: Tuned: `benchmarks/constants.py`.
MOST_ROUNDS, MOST_COLUMNS = 20, 300
#: A diagonal entry of a triangular factor below this part of the first is 0.
#: Tuned: `benchmarks/constants.py`.
SINGULAR = 1e-9


def shifted_duals(form: StandardForm, duals: Floats) -> list[Fraction] | None:
    """Return exact duals near given ones that prove a bound; None if none are found.

    Parameters
    ----------
    form : StandardForm
        A linear program whose numbers are known exactly.
    duals : ndarray of float, shape (rows,)
        Nearly optimal ones, in the form's own sense.
    """
    reader, sign = ExactReader(form), -1 if form.sense == "max" else 1
    low, high = np.isfinite(form.row_lower), np.isfinite(form.row_upper)
    duals = np.where(
        (sign * duals > 0) & ~low, 0.0, np.where((sign * duals < 0) & ~high, 0.0, duals)
    )
    y = {
        i: Fraction(round(math.ldexp(x, DIGITS)), 1 << DIGITS)
        for i, x in enumerate(duals.tolist())
        if math.isfinite(x) and x
    }
    free = np.flatnonzero((low & high) | (np.abs(duals) > SMALL))
    endless = np.flatnonzero(np.isneginf(form.col_lower) | np.isposinf(form.col_upper))
    loose = np.isneginf(form.col_lower) & np.isposinf(form.col_upper)
    moved, system = y, set(np.flatnonzero(loose).tolist())
    for _ in range(MOST_ROUNDS):
        reduced = _reduced_costs(reader, moved)
        wrong = {j for j in endless.tolist() if _is_wrong(form, j, sign * reduced.get(j, 0))}
        if not wrong:
            return [moved.get(i, Fraction(0)) for i in range(len(form.rows))]
        system |= wrong
        shift = _shift(reader, sorted(system), free, _reduced_costs(reader, y))
        if shift is None:
            return None
        moved = {i: y.get(i, Fraction(0)) + shift.get(i, 0) for i in {*y, *shift}}
    return None


def _is_wrong(form: StandardForm, j: int, reduced: Fraction | int) -> bool:
    return bool(
        (reduced > 0 and np.isneginf(form.col_lower[j]))
        or (reduced < 0 and np.isposinf(form.col_upper[j]))
    )


def _reduced_costs(reader: ExactReader, duals: Mapping[int, Fraction]) -> dict[int, Fraction]:
    """Return the reduced costs that are not known to be 0, by column."""
    out = {j: Fraction(a) for j, a in reader.costs().items()}
    for i, y in duals.items():
        row = reader.row(i)
        for j, a in zip(row.columns, row.coefficients, strict=True):
            out[j] = out.get(j, Fraction(0)) - y * a
    return out


def _shift(
    reader: ExactReader, columns: list[int], free: np.ndarray, reduced: Mapping[int, Fraction]
) -> dict[int, Fraction] | None:
    """Return what to add to duals of free rows so that reduced costs of columns are 0."""
    rows = _independent_rows(reader.form, columns, free)
    if rows is None:
        return None
    place = {j: k for k, j in enumerate(columns)}
    matrix: list[dict[int, Fraction]] = [{} for _ in columns]
    for k, i in enumerate(rows):
        row = reader.row(i)
        for j, a in zip(row.columns, row.coefficients, strict=True):
            if j in place:
                matrix[place[j]][k] = Fraction(a)
    solved = solve_exactly(matrix, [reduced.get(j, Fraction(0)) for j in columns])
    return None if solved is None else dict(zip(rows, solved, strict=True))


def _independent_rows(form: StandardForm, columns: list[int], free: np.ndarray) -> list[int] | None:
    """Return as many rows as columns in which these are independent; None if there are none."""
    if len(columns) > min(MOST_COLUMNS, len(free)):
        return None
    from scipy.linalg import qr  # as in `gadgetopt.numbers.exact_vertex`

    entries = form.A[free][:, columns].toarray().T
    _, triangle, order = qr(entries, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    if len(diagonal) < len(columns) or diagonal[-1] <= SINGULAR * diagonal[0]:
        return None
    return [int(i) for i in free[order[: len(columns)]]]
