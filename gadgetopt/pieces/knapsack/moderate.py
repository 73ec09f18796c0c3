"""Scaling of large or small numbers for HiGHS, whose tolerances are absolute."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.knapsack.problem import Knapsack

#: Rows and profits with a sum above the first are divided down to the second.
#: Tuned: `benchmarks/constants.py`.
LARGE_SUM, MODERATE_SUM = 2.0**30, 2.0**24
#: Rows and profits with a sum below this are multiplied up to the same second.
#: Tuned: `benchmarks/constants.py`.
SMALL_SUM = 2.0**-10
#: Largest exponent of two for the factor of a double. By definition.
MOST_EXPONENT = 1000


@dataclass(frozen=True)
class Moderate:
    """A knapsack divided by powers of two, which keep all digits.

    Attributes
    ----------
    knapsack : Knapsack
    profit_divisor : float
    row_divisors : ndarray of float, shape (rows,)
    """

    knapsack: Knapsack
    profit_divisor: float
    row_divisors: Floats

    def duals(self, duals: Floats) -> Floats:
        """Return prices of the original rows."""
        return duals * self.profit_divisor / self.row_divisors


def moderate(knapsack: Knapsack) -> Moderate:
    """Scale a knapsack so that profits, and weights that its capacities allow, sum moderately."""
    most = np.minimum(np.abs(knapsack.capacity), knapsack.weight.sum(axis=0))
    rows = np.array([_divisor(float(x)) for x in most])
    unit = _divisor(float(np.abs(knapsack.profit).sum()))
    if unit == 1 and (rows == 1).all():
        return Moderate(knapsack, 1.0, rows)
    scaled = replace(
        knapsack,
        profit=knapsack.profit / unit,
        weight=knapsack.weight / rows,
        capacity=knapsack.capacity / rows,
    )
    return Moderate(scaled, unit, rows)


def _divisor(total: float) -> float:
    """Return the power of two that makes a sum moderate; 1 for sums that are moderate or 0."""
    if total == 0 or SMALL_SUM <= total <= LARGE_SUM:
        return 1.0
    exponent = math.frexp(total)[1] - math.frexp(MODERATE_SUM)[1] + 1
    return math.ldexp(1.0, max(-MOST_EXPONENT, min(MOST_EXPONENT, exponent)))
