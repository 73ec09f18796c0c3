r"""Multipliers of the rows: the certificates that hold them, and the Lagrangian bound they give.

For any :math:`\lambda \ge 0` the Lagrangian bound

.. math::
    L(\lambda) = \lambda^\top C + \sum_i \max_c (\pi_{ic} - \lambda^\top a_{ic}),

with a further 0 in the maximum if a group may be left out, is no less than the optimum. Items that
do not fit alone are left out. Every objective is a multiple of the profits' unit, so the bound is
rounded down to one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import le, mul
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gadgetopt.numbers.exact import check_prices, common_denominator
from gadgetopt.system.data import Certificate, Data, PositiveInt

from .instance import Amount, KnapsackInstance


class FurtherMultipliers(Data):
    """Multipliers that also bound the partial choices with few groups left to decide.

    Attributes
    ----------
    groups_left : int
        They count from so many undecided groups on, until those of a smaller number take over.
    multipliers : tuple of Fraction
        One for every row, not negative.
    """

    groups_left: PositiveInt
    multipliers: tuple[Amount, ...]


class KnapsackCertificate(Certificate):
    """Multipliers of the rows, and the bound to compute from them.

    Attributes
    ----------
    multipliers : tuple of Fraction
        One for every row, not negative.
    bound : "lagrangian", "surrogate" or "exhaustion"
    at_most : Fraction or None
        With "exhaustion", the profit above which no choice is left.
    further : tuple of FurtherMultipliers
        With "exhaustion" only.
    """

    multipliers: Annotated[tuple[Amount, ...], Field(min_length=1)]
    bound: Literal["lagrangian", "surrogate", "exhaustion"] = "lagrangian"
    at_most: Amount | None = None
    further: Annotated[tuple[FurtherMultipliers, ...], Field(max_length=1000)] = ()

    @model_validator(mode="after")
    def _one_proof(self) -> Self:
        exhausts = self.bound == "exhaustion"
        if (self.at_most is not None) != exhausts:
            which = "missing" if exhausts else f"not for the bound {self.bound!r}"
            raise ValueError(f"at_most: is {which}")
        if self.further and not exhausts:
            raise ValueError(f"further: is not for the bound {self.bound!r}")
        return self


def floor_to_unit(instance: KnapsackInstance, bound: Fraction) -> Fraction:
    """Return the largest multiple of the profits' unit that is no more than a bound."""
    unit = instance.whole.unit
    return unit * math.floor(bound / unit)


def lagrangian_bound(
    instance: KnapsackInstance, multipliers: Sequence[Fraction]
) -> Fraction | None:
    """Return the exact value of L at these multipliers, over the items that fit alone.

    Returns
    -------
    Fraction or None
        None if a group must have an item chosen and none of its items fits.

    Raises
    ------
    ValueError
        If the number of multipliers is not that of the rows.
    """
    whole = instance.whole
    check_prices(multipliers, "multipliers", len(instance.capacities), "capacities")
    # Prices of whole numbers of weight, in units of profit, times their common denominator.
    exact = [y / whole.unit / s for y, s in zip(multipliers, whole.row_scales, strict=True)]
    denominator = common_denominator(exact)
    prices = [int(p * denominator) for p in exact]
    total = sum(map(mul, whole.capacities, prices))
    for items in whole.items:
        worth = [
            denominator * profit - sum(map(mul, weights, prices))
            for profit, weights in items
            if all(map(le, weights, whole.capacities))
        ]
        if instance.exactly_one and not worth:
            return None
        total += max(worth) if instance.exactly_one else max([0, *worth])
    return whole.unit * Fraction(total, denominator)
