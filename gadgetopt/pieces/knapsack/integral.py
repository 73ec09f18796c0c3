r"""A knapsack in whole numbers, so that sums of doubles are exact and bounds are proofs.

Weights and capacities are multiplied by their decimal denominators. Profits and prices are
multiplied by a common power of two: profits that are not whole are rounded up, prices to
the nearest. All sums are then whole numbers below :math:`2^{53}`, which doubles hold
exactly, and a bound computed from them is never below the true one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.knapsack.problem import LARGEST_EXACT, Knapsack

#: Largest power of ten by which decimals are made whole. Tuned: `benchmarks/constants.py`.
LARGEST_DECIMAL = 10**6
#: Sums at the scale of a knapsack stay below this; the rest up to 2^53 is room for other prices.
#: By definition.
ROOM = 2.0**46
#: Least relative improvement if profits are not whole numbers. Tuned: `benchmarks/constants.py`.
LEAST_IMPROVEMENT = 1e-10


@dataclass(frozen=True)
class Integral:
    """Whole numbers in doubles.

    Attributes
    ----------
    profit : ndarray of float, shape (items,)
        Profits times `scale`, rounded up.
    weight : ndarray of float, shape (items, rows)
    capacity : ndarray of float, shape (rows,)
        Rounded down, and at most the weight of the heaviest items of all groups.
    scale : float
        Factor of `profit` and prices: a profit of 1 becomes this.
    step : float
        A better choice is better by at least this, in the units of `profit`.
    row_scale : ndarray of float, shape (rows,)
        Factor of each row.
    whole_profits : bool
        True if profits are multiples of a decimal unit, so that `step` is exact.
    reach : ndarray of float, shape (rows,)
        No residual capacity is larger in absolute value.
    profit_reach : float
        Nor any sum of profits.
    """

    profit: Floats
    weight: Floats
    capacity: Floats
    scale: float
    step: float
    row_scale: Floats
    whole_profits: bool
    reach: Floats
    profit_reach: float

    def prices(self, duals: Floats) -> Floats:
        """Return prices of the knapsack's own rows at this scale, rounded to whole numbers."""
        return np.rint(np.maximum(duals, 0.0) / self.row_scale * self.scale)


def integral(knapsack: Knapsack, duals: Floats) -> Integral:
    """Return a knapsack in whole numbers at a scale that suits some prices.

    Raises
    ------
    ModelRefused
        If a row's numbers have more than six decimals, or sums are too large for doubles.
    """
    rows = len(knapsack.capacity)
    row_scale = np.ones(rows)
    for r in range(rows):
        unit = decimal_unit(knapsack.weight[:, r])
        if unit is None:
            raise ModelRefused(f"weights of row {r} have more than six decimals")
        row_scale[r] = unit
    weight = np.rint(knapsack.weight * row_scale)
    # A capacity of 0.3 means the decimal; its product with 10 may come out a little below 3.
    scaled = knapsack.capacity * row_scale
    near = np.rint(scaled)
    capacity = np.where(near / row_scale == knapsack.capacity, near, np.floor(scaled))
    profit_unit = decimal_unit(knapsack.profit)
    profit = knapsack.profit if profit_unit is None else np.rint(knapsack.profit * profit_unit)
    unit = profit_unit or 1
    most = _most_of_groups(knapsack, np.abs(weight))
    capacity = np.minimum(capacity, most)
    reach = np.abs(capacity) + most
    whole = profit_unit is not None
    # Profits that are no decimals may all be tiny; one that is a decimal has room for one more.
    largest = float(np.abs(profit).max(initial=0.0))
    profit_reach = float(_most_of_groups(knapsack, np.abs(profit)[:, None])[0])
    profit_reach += 1.0 if whole else largest
    prices = np.maximum(duals, 0.0) / row_scale * unit
    exponent = math.floor(math.log2(ROOM / (float(prices @ reach) + profit_reach)))
    if exponent < 0 or reach.max(initial=0.0) >= ROOM:
        raise ModelRefused("weights or profits are too large for exact sums in doubles")
    factor = 2.0**exponent
    return Integral(
        profit=np.ceil(profit * factor),
        weight=weight,
        capacity=capacity,
        scale=factor * unit,
        step=factor if whole else math.ceil(LEAST_IMPROVEMENT * largest * factor),
        row_scale=row_scale,
        whole_profits=whole,
        reach=reach,
        profit_reach=profit_reach * factor,
    )


def _most_of_groups(knapsack: Knapsack, numbers: Floats) -> Floats:
    """Return the sums over groups of the largest number of an item; numbers (items, columns)."""
    starts = knapsack.group_starts
    filled = starts[:-1][np.diff(starts) > 0]
    if not len(filled):
        return np.zeros(numbers.shape[1])
    return np.asarray(np.maximum.reduceat(numbers, filled, axis=0).sum(axis=0))


def decimal_unit(numbers: Floats) -> int | None:
    """Return the least power of ten that makes decimals whole; None if it exceeds a million."""
    unit = 1
    while unit <= LARGEST_DECIMAL:
        scaled = np.rint(numbers * unit)
        # Division rounds correctly, so that this tests if the decimal reads as the double.
        if np.abs(scaled).max(initial=0.0) < LARGEST_EXACT and np.all(scaled / unit == numbers):
            return unit
        unit *= 10
    return None
