"""Dual bounds recomputed in exact arithmetic, so that no solver has to be believed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.numbers import simplest_rational

if TYPE_CHECKING:
    import numpy.typing as npt

    from gadgetopt.solvers.standard_form import StandardForm

#: Duals are also tried as fractions with at most this denominator: an optimal vertex of a model
#: with small integers has such duals, and hitting them exactly closes the last 1e-9 of the bound.
LARGEST_DENOMINATOR = 10_000


def lp_dual_bound(form: StandardForm, row_duals: npt.NDArray[np.float64]) -> Fraction | None:
    r"""Return a bound on the optimum of a linear model that any row duals y prove.

    For a minimisation and any y with :math:`y_i \ge 0` on rows with a lower bound only and
    :math:`y_i \le 0` on rows with an upper bound only,

    .. math::
        c^T x \ge \sum_i y_i b_i + \sum_j \min_{l_j \le x_j \le u_j} (c - A^T y)_j \, x_j,

    where :math:`b_i` is the row's lower bound if :math:`y_i > 0` and its upper bound otherwise.
    Duals of the wrong sign are set to zero, and the right side is computed in rational arithmetic.
    The bound holds for the mixed-integer model too. It is as good as the duals are.

    Parameters
    ----------
    form : StandardForm
    row_duals : ndarray of float, shape (rows,)
        Approximate duals in the model's own sense, as in `SolverOutcome.row_duals`.

    Returns
    -------
    Fraction or None
        A lower bound when minimising, an upper bound when maximising; None if a reduced cost has
        the wrong sign on a variable without a bound on that side.

    Raises
    ------
    ValueError
        If the number of duals is not that of the rows.
    """
    if len(row_duals) != len(form.rows):
        raise ValueError(f"{len(row_duals)} duals for {len(form.rows)} rows")
    if any(np.any(np.isfinite(v) & (np.abs(v) >= 2.0**53)) for v in (form.A.data, form.c)):
        return None  # an integer of this size may have been rounded before we saw it
    sign = -1 if form.sense == "max" else 1
    duals = [sign * y if math.isfinite(y) else 0.0 for y in np.asarray(row_duals).tolist()]
    candidates = (
        [Fraction(y) for y in duals],
        [Fraction(y).limit_denominator(LARGEST_DENOMINATOR) for y in duals],
    )
    bounds = [b for b in (_lower_bound(form, y, sign) for y in candidates) if b is not None]
    offset = simplest_rational(form.offset)
    return offset + sign * max(bounds) if bounds else None


def _lower_bound(form: StandardForm, duals: Iterable[Fraction], sign: int) -> Fraction | None:
    """Return the bound that `duals` prove on the minimum of `sign * c @ x`."""
    data, indices, starts = form.A.data.tolist(), form.A.indices.tolist(), form.A.indptr.tolist()
    reduced = [sign * simplest_rational(x) for x in form.c.tolist()]
    rational: dict[float, Fraction] = {}
    total = Fraction(0)
    sides = zip(form.row_lower.tolist(), form.row_upper.tolist(), strict=True)
    for i, (y, (lower, upper)) in enumerate(zip(duals, sides, strict=True)):
        side = lower if y > 0 else upper
        if y == 0 or math.isinf(side):
            continue
        total += y * simplest_rational(side)
        for k in range(starts[i], starts[i + 1]):
            a = data[k]
            if a not in rational:
                rational[a] = simplest_rational(a)
            reduced[indices[k]] -= y * rational[a]
    bounds = zip(form.col_lower.tolist(), form.col_upper.tolist(), strict=True)
    for cost, (lower, upper) in zip(reduced, bounds, strict=True):
        side = lower if cost > 0 else upper
        if cost == 0:
            continue
        if math.isinf(side):
            return None
        total += cost * simplest_rational(side)
    return total
