"""Scaling of models for HiGHS, whose tolerances are absolute.

HiGHS ignores reduced costs and violations below 1e-7. So very small or large numbers are divided by
powers of two, which changes no digit, and results are multiplied by them:

- the objective, in the unit of its largest cost;
- rows of small coefficients only, each in its own unit; large ones stay, as a solver that is
  allowed more in them would let a whole unit pass;
- all sides and bounds of a linear program, hence its variables, in the unit of the largest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.tolerance import Number

if TYPE_CHECKING:
    from gadgetopt.numbers.arrays import Floats
    from gadgetopt.search.watched import Report
    from gadgetopt.solvers.outcome import SolverOutcome
    from gadgetopt.solvers.standard_form import StandardForm

#: Numbers are not scaled if the largest lies in this range. Tuned: `benchmarks/constants.py`.
ORDINARY = (1.0, 2.0**30)
#: Otherwise the largest becomes about two to this power. Tuned: `benchmarks/constants.py`.
MODERATE_EXPONENT = 20
#: Rows whose largest coefficient is below this are scaled to about 1.
#: Tuned: `benchmarks/constants.py`.
SMALL_ROW = 2.0**-10
#: Sides and bounds of a linear program are scaled if the largest is below this.
#: Tuned: `benchmarks/constants.py`.
SMALL_SIDE = 2.0**-10
#: Range of exponents of the power of two by which a double may be scaled. By definition.
MOST_EXPONENT = 1000


def cost_unit(costs: npt.ArrayLike) -> float:
    """Return the power of two to divide costs by so that the largest is an ordinary number.

    Parameters
    ----------
    costs : array of float
        Infinite ones do not count.

    Returns
    -------
    float
        1 if the largest is in the ordinary range, or all are 0.
    """
    largest = _largest(costs)
    if largest == 0 or ORDINARY[0] <= largest <= ORDINARY[1]:
        return 1.0
    return _power(math.frexp(largest)[1] - MODERATE_EXPONENT)


@dataclass(frozen=True)
class Scaling:
    """Powers of two that a model is divided by.

    Attributes
    ----------
    cost : float
        Of the objective.
    side : float
        Of all sides and bounds, hence of the variables; 1 if one is an integer.
    rows : array, shape (rows,)
        Of the coefficients and sides of each row.
    """

    cost: float
    side: float
    rows: Floats

    def scaled(self, form: StandardForm) -> StandardForm:
        """Return the model in these units."""
        if self._nothing:
            return form
        matrix = form.A.copy()
        matrix.data = matrix.data / np.repeat(self.rows, np.diff(matrix.indptr))
        return replace(
            form,
            c=form.c / self.cost,
            offset=form.offset / self.cost / self.side,
            A=matrix,
            row_lower=form.row_lower / self.rows / self.side,
            row_upper=form.row_upper / self.rows / self.side,
            col_lower=form.col_lower / self.side,
            col_upper=form.col_upper / self.side,
        )

    def point(self, values: Floats | None) -> Floats | None:
        """Return values of the variables in these units."""
        return None if values is None else values / self.side

    def objective(self, x: Number | None) -> Number | None:
        """Return an objective or bound of the scaled model in the model's own units."""
        return None if x is None else x * self.cost * self.side

    def told(self, report: Report) -> Report:
        """Return who is told of objectives and bounds of the scaled model, in the model's units."""
        of = self.objective
        return lambda incumbent, bound: report(of(incumbent), of(bound))

    def restored(self, outcome: SolverOutcome) -> SolverOutcome:
        """Return the outcome of a scaled solve in the model's own units."""
        if self._nothing:
            return outcome
        of, duals = self.objective, outcome.row_duals
        return replace(
            outcome,
            values=None if outcome.values is None else outcome.values * self.side,
            objective=of(outcome.objective),
            bound=of(outcome.bound),
            lp_bound=of(outcome.lp_bound),
            root_bound=of(outcome.root_bound),
            row_duals=None if duals is None else duals * self.cost / self.rows,
            trace=tuple(
                replace(p, incumbent=of(p.incumbent), bound=of(p.bound)) for p in outcome.trace
            ),
        )

    @property
    def _nothing(self) -> bool:
        return self.cost == 1 and self.side == 1 and bool((self.rows == 1).all())


def scaling_of(form: StandardForm) -> Scaling:
    """Return the scaling with which a model is passed to HiGHS."""
    sizes = np.abs(form.A.data)
    rows = np.ones(len(form.rows))
    filled = np.flatnonzero(np.diff(form.A.indptr))
    if len(filled):
        largest = np.maximum.reduceat(sizes, form.A.indptr[filled])
        small = (largest > 0) & (largest < SMALL_ROW)
        for i, size in zip(filled[small].tolist(), largest[small].tolist(), strict=True):
            rows[i] = _power(math.frexp(size)[1])
    side = 1.0
    if not form.integer.any():
        ends = (form.row_lower / rows, form.row_upper / rows, form.col_lower, form.col_upper)
        most = max(_largest(x) for x in ends)
        if 0 < most < SMALL_SIDE:
            side = _power(math.frexp(most)[1])
    return Scaling(cost_unit([*form.c, form.offset / side]), side, rows)


def _largest(numbers: npt.ArrayLike) -> float:
    """Return the largest absolute value of the finite entries, 0 if there are none."""
    sizes = np.abs(np.asarray(numbers, dtype=np.float64))
    return float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))


def _power(exponent: int) -> float:
    return math.ldexp(1.0, max(-MOST_EXPONENT, min(MOST_EXPONENT, exponent)))
