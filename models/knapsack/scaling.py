"""An instance in whole numbers, the input of the solvers in `gadgetopt.pieces.knapsack`.

Profits are divided by their unit, the largest number of which all are multiples, and every row is
multiplied by its denominators. All values are then whole doubles with exact sums, and every
objective is a whole number of units, so that a bound may be rounded down to a whole number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.knapsack.problem import Knapsack

from .instance import KnapsackInstance, KnapsackSolution

#: Sums up to this leave the solvers in doubles room for exact products with prices. By definition.
_LARGEST = 2**46

#: Relative amount by which a bound in units may have come out too low. At a million units the
#: toolkit's general tolerance is a whole unit; here profits are exact.
#: Tuned: `benchmarks/constants.py`.
BOUND_TOLERANCE = 1e-9


@dataclass(frozen=True)
class ScaledKnapsack:
    """A knapsack in whole numbers, and the way back.

    Attributes
    ----------
    knapsack : Knapsack
        Without the items of profit 0 that need not be chosen.
    unit : Fraction
        Profit that one unit of the scaled knapsack stands for.
    row_scales : tuple of int
        What the rows were multiplied by.
    item_of : tuple of (int, int)
        Group, and number in its group, of every item of the knapsack.
    """

    knapsack: Knapsack
    unit: Fraction
    row_scales: tuple[int, ...]
    item_of: tuple[tuple[int, int], ...]

    def profit(self, value: float) -> Fraction:
        """Return the profit that a whole number of units stands for."""
        return self.unit * round(value)

    def bound(self, value: float) -> Fraction:
        """Return the largest objective that a bound in units allows."""
        return self.unit * math.floor(value + BOUND_TOLERANCE * max(1.0, abs(value)))

    def multipliers(self, duals: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return the multipliers of the instance's rows that duals of the scaled rows stand for."""
        return tuple(
            self.unit * scale * dual for scale, dual in zip(self.row_scales, duals, strict=True)
        )

    def solution(
        self, instance: KnapsackInstance, items: npt.ArrayLike | Sequence[int]
    ) -> KnapsackSolution:
        """Return the choice of these items of the knapsack."""
        chosen: list[int | None] = [None] * len(instance.groups)
        for item in np.asarray(items, dtype=np.int64).tolist():
            i, c = self.item_of[item]
            chosen[i] = c
        return KnapsackSolution(chosen=tuple(chosen))


def scaled(instance: KnapsackInstance) -> ScaledKnapsack:
    """Return an instance in whole numbers.

    Raises
    ------
    ModelRefused
        If the numbers have so many digits that doubles do not hold their sums.
    """
    whole = instance.whole
    kept = [
        ((i, c), profit, weights)
        for i, items in enumerate(whole.items)
        for c, (profit, weights) in enumerate(items)
        if profit or instance.exactly_one
    ]
    profits = [profit for _, profit, _ in kept]
    weights = [weights for _, _, weights in kept]
    sums = [sum(profits), *map(sum, zip(*weights, strict=True))]
    if max(sums) > _LARGEST:
        digits = len(str(max(sums)))
        raise ModelRefused(
            f"profits or weights sum to a number of {digits} digits when scaled to whole numbers, "
            f"more than the {_LARGEST:.3g} up to which doubles are exact at all prices"
        )
    # A capacity beyond all sums binds no more than the largest sum.
    capacities = [min(capacity, _LARGEST) for capacity in whole.capacities]
    groups: dict[int, int] = {}
    owner = [groups.setdefault(i, len(groups)) for (i, _), _, _ in kept]
    knapsack = Knapsack(
        profit=np.array(profits, dtype=np.float64),
        weight=np.array(weights, dtype=np.float64).reshape(len(kept), len(whole.capacities)),
        owner=np.array(owner, dtype=np.int64),
        capacity=np.array(capacities, dtype=np.float64),
        exactly_one=instance.exactly_one,
    )
    return ScaledKnapsack(
        knapsack, whole.unit, whole.row_scales, tuple(place for place, _, _ in kept)
    )
