"""A solver's incumbent checked against rows and bounds, without the solver.

Rows over integer columns must hold exactly. Rows with a continuous column must hold within
`FEASIBILITY_TOLERANCE` of their own size.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from gadgetopt.numbers.arrays import Bools, Floats
from gadgetopt.numbers.tolerance import Number
from gadgetopt.solvers.exact_form import ExactReader, Side, weighted_sum
from gadgetopt.solvers.linear_terms import LARGEST_EXACT, Exact
from gadgetopt.system.result import Status

if TYPE_CHECKING:
    from gadgetopt.solvers.outcome import SolverOutcome
    from gadgetopt.solvers.standard_form import StandardForm

#: HiGHS's own primal feasibility tolerance. Here it is relative to the size of a row: to the
#: largest of its side, its terms, and its coefficients of continuous columns.
#: Tuned: `benchmarks/constants.py`.
FEASIBILITY_TOLERANCE = 1e-6

#: Relative distance of an objective in doubles to its bound below which the solve counts as closed.
#: Tuned: `benchmarks/constants.py`.
CLOSED = 1e-6

#: Twice the relative rounding error of a sum or product of doubles. By definition.
_ROUNDING = 2.0**-52


def within_bounds(form: StandardForm, values: Floats) -> Floats:
    """Return `values` with continuous columns that are just beyond a bound moved onto it."""
    return np.where(form.integer, values, np.clip(values, form.col_lower, form.col_upper))


def violated(form: StandardForm, values: Floats) -> str | None:
    """Return the name of a row or column that values violate; None if they are feasible.

    Parameters
    ----------
    form : StandardForm
    values : ndarray of float, shape (columns,)
        Integers in integer columns; within their bounds in continuous ones.
    """
    reader = ExactReader(form)
    outside = _column_outside(reader, values)
    if outside is not None:
        return outside
    with np.errstate(over="ignore", invalid="ignore"):
        activity, size = form.A @ values, abs(form.A) @ np.abs(values)
        tolerant = _tolerant_rows(form)
        allowed = np.where(tolerant, 0.0, _rounding_errors(form, size))
        largest = np.where(tolerant, _largest_entries(form, values), 0.0)
        allowed_low, allowed_high = (
            allowed
            + np.where(tolerant, FEASIBILITY_TOLERANCE * np.maximum(largest, np.abs(side)), 0.0)
            for side in (form.row_lower, form.row_upper)
        )
        low, high = form.row_lower - activity, activity - form.row_upper
        # Written so that NaN, where doubles overflow, counts as wrong.
        wrong = np.flatnonzero(~((low <= allowed_low) & (high <= allowed_high)))
        if wrong.size:
            return str(form.rows[wrong[0]].name)
        close = ~tolerant & (allowed > 0) & (np.maximum(low, high) >= -allowed)
    exact_values: list[Exact] | None = None
    for i in np.flatnonzero(close).tolist():
        if exact_values is None:
            exact_values = [int(x) if x.is_integer() else Fraction(x) for x in values.tolist()]
        row = reader.row(i)
        total = weighted_sum(row, exact_values)
        if not row.lower + _doubt(row.lower) <= total <= row.upper - _doubt(row.upper):
            return str(form.rows[i].name)
    return None


def _doubt(side: Side) -> float:
    """Return the possible rounding error of a side that is known only as a double."""
    return math.ulp(side) if isinstance(side, float) and math.isfinite(side) else 0


def _column_outside(reader: ExactReader, values: Floats) -> str | None:
    form = reader.form
    outside = (values < form.col_lower) | (values > form.col_upper)
    # A value equal to a bound's double may violate the exact bound.
    for bounds in (form.exact.col_lower, form.exact.col_upper):
        outside[[j for j in bounds if form.integer[j]]] = True
    for j in np.flatnonzero(outside).tolist():
        low, high = reader.bounds(j)
        if (low is not None and values[j] < low) or (high is not None and values[j] > high):
            return str(form.columns[j].name)
    return None


def objective_of(form: StandardForm, values: Floats) -> Exact:
    """Return the exact objective of values.

    Raises
    ------
    ModelRefused
        If the model's objective is known only in doubles.
    """
    reader = ExactReader(form)
    numbers = values.tolist()
    total = Fraction(reader.offset())
    for j, a in reader.costs().items():
        x = numbers[j]
        total += a * (int(x) if x.is_integer() else Fraction(x))
    return total.numerator if total.denominator == 1 else total


def with_objective(form: StandardForm, outcome: SolverOutcome, objective: Number) -> SolverOutcome:
    """Return an outcome with the objective of its mended incumbent."""
    status, reason = outcome.status, outcome.reason
    if status is Status.OPTIMAL and not closed(form, objective, outcome.bound):
        status = Status.FEASIBLE
        reason = f"with its values mended, the objective is {objective}, not {outcome.objective}"
    return replace(outcome, status=status, objective=objective, reason=reason)


def closed(form: StandardForm, objective: Number, bound: Number | None) -> bool:
    """Return True if an objective meets a bound in doubles."""
    if bound is None:
        return False
    unit = float(np.abs(form.c).max(initial=0.0))
    size = max(abs(Fraction(objective)), abs(Fraction(bound)), Fraction(unit))
    return abs(Fraction(objective) - Fraction(bound)) <= Fraction(CLOSED) * size


def beyond_doubles(form: StandardForm) -> str | None:
    """Return the name of a row over integers whose sums doubles resolve worse than HiGHS's 1e-6.

    Infeasibility or optimality that a solver in doubles concludes from such a row may be due to
    rounding.
    """
    most = np.maximum(np.abs(form.col_lower), np.abs(form.col_upper))
    reach = abs(form.A) @ np.where(np.isfinite(most), most, 1.0)
    far = ~_tolerant_rows(form) & (reach * _ROUNDING > FEASIBILITY_TOLERANCE)
    found = np.flatnonzero(far)
    return str(form.rows[found[0]].name) if found.size else None


def has_wide_row(form: StandardForm) -> bool:
    """Return True if the coefficients of some row differ by more than HiGHS's tolerance allows."""
    entries, starts = np.abs(form.A.data), form.A.indptr[:-1][np.diff(form.A.indptr) > 0]
    if not entries.size:
        return False
    largest, least = np.maximum.reduceat(entries, starts), np.minimum.reduceat(entries, starts)
    return bool((largest * FEASIBILITY_TOLERANCE > least).any())


def _tolerant_rows(form: StandardForm) -> Bools:
    """Return which rows have a continuous column, or numbers known as doubles only."""
    tolerant = _any_in_row(form.A, (~form.integer)[form.A.indices])
    tolerant[[i for i in form.exact.inexact if i >= 0]] = True
    return tolerant


def _largest_entries(form: StandardForm, values: Floats) -> Floats:
    """Return, for every row, its largest term or coefficient of a continuous column."""
    weight = np.where(form.integer, np.abs(values), np.maximum(1.0, np.abs(values)))
    return _largest_in_row(form.A, np.abs(form.A.data) * weight[form.A.indices])


def _rounding_errors(form: StandardForm, size: Floats) -> Floats:
    """Return bounds on the rounding errors of rows computed in doubles; 0 where the sum is exact.

    Parameters
    ----------
    size : ndarray of float, shape (rows,)
        The sums of the absolute terms.
    """
    sides = np.zeros(len(form.rows))
    for side in (form.row_lower, form.row_upper):
        sides = np.maximum(sides, np.where(np.isfinite(side), np.abs(side), 0.0))
    terms = np.diff(form.A.indptr) + 3
    errors = terms * _ROUNDING * (size + sides)
    exact = ~_any_in_row(form.A, form.A.data != np.rint(form.A.data)) & (size < LARGEST_EXACT)
    exact[list(form.exact.rows)] = False
    return np.where(exact, 0.0, errors)


def _any_in_row(A: csr_array, entries: Bools) -> Bools:
    return _largest_in_row(A, entries.astype(float)) > 0


def _largest_in_row(A: csr_array, entries: Floats) -> Floats:
    """Return the largest entry of every row, 0 for a row without entries."""
    largest = np.zeros(A.shape[0])
    filled = np.flatnonzero(np.diff(A.indptr))
    if filled.size:
        largest[filled] = np.maximum.reduceat(entries, A.indptr[filled])
    return largest
