r"""Certificates of bounds on the profit: multipliers of the rows, and what is left at them.

For any :math:`\lambda \ge 0` the Lagrangian bound

.. math::
    L(\lambda) = \lambda^\top C + \sum_i \max_c (\pi_{ic} - \lambda^\top a_{ic}),

with a further 0 in the maximum if a group may be left out, is no less than the optimum. Items that
do not fit alone are left out. No less than the optimum is also that of the surrogate knapsack,
whose one row is the sum of all rows with these multipliers,

.. math::
    \sum_i \lfloor \lambda^\top a_{ic_i} \rfloor \le \lfloor \lambda^\top C \rfloor,

rounded down to whole numbers, which every feasible choice survives, and solved by dynamic
programming. Without the rounding, to which large multipliers come close, it is never worse than the
Lagrangian bound. Every objective is a multiple of the profits' unit, so either bound is rounded
down to one.

Third, a bound B below both: a choice above B loses less than :math:`L(\lambda) - B` at the
multipliers, and the check goes through all choices that do
(`gadgetopt.pieces.knapsack.proofs.exhaustion`), with further multipliers deeper in the tree. It
returns B if none of them fits, and the profit of the best of them otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import le, mul
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from gadgetopt.numbers.exact import check_prices, common_denominator
from gadgetopt.pieces.knapsack.proofs import exhaustion
from gadgetopt.pieces.knapsack.proofs.exhaustion import Option, Prices, largest_profit
from gadgetopt.system.data import Certificate, Data, PositiveInt

from .instance import Amount, KnapsackInstance

#: Most table entries that the dynamic program of the surrogate bound may compute, and may hold.
MOST_STEPS, MOST_CELLS = 10**9, 10**7


class TableTooLarge(ValueError):
    """The dynamic program of a surrogate bound takes too long or has numbers of too many digits."""


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


def check_bound(instance: KnapsackInstance, certificate: KnapsackCertificate) -> Fraction | None:
    """Return the bound that the multipliers prove, without a solver.

    Returns
    -------
    Fraction or None
        None if nothing satisfies the relaxation; the instance is then infeasible.

    Raises
    ------
    ValueError
        If the number of multipliers is not that of the rows, or the check would take too long.
    """
    if certificate.bound == "exhaustion":
        return exhaustion_bound(instance, certificate)
    bounds = {"lagrangian": lagrangian_bound, "surrogate": surrogate_bound}
    bound = bounds[certificate.bound](instance, certificate.multipliers)
    return None if bound is None else floor_to_unit(instance, bound)


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
    # Prices in units of profit for whole numbers of weight, times their common denominator.
    check_prices(multipliers, "multipliers", len(instance.capacities), "capacities")
    prices, denominator = _whole_prices(instance, [y / whole.unit for y in multipliers])
    total = _weighed(whole.capacities, prices)
    for items in _fitting(instance):
        worth = [denominator * profit - _weighed(weights, prices) for profit, weights in items]
        if instance.exactly_one and not worth:
            return None
        total += max(worth) if instance.exactly_one else max([0, *worth])
    return whole.unit * Fraction(total, denominator)


def surrogate_bound(instance: KnapsackInstance, multipliers: Sequence[Fraction]) -> Fraction | None:
    """Return the optimum of the knapsack whose one row is the rounded, weighted sum of all rows.

    Returns
    -------
    Fraction or None
        None if a group must have an item chosen and no choice fits the row.

    Raises
    ------
    ValueError
        If the number of multipliers is not that of the rows, or the table would be too large.
    """
    whole = instance.whole
    check_prices(multipliers, "multipliers", len(instance.capacities), "capacities")
    prices, denominator = _whole_prices(instance, multipliers)
    groups = _fitting(instance)
    profits = [[profit for profit, _ in items] for items in groups]
    weights = [[_weighed(w, prices) // denominator for _, w in items] for items in groups]
    # A capacity above the sum of all weights binds no more than that sum.
    everything = sum(max(row, default=0) for row in weights)
    capacity = min(_weighed(whole.capacities, prices) // denominator, everything)
    best = _one_row(profits, weights, capacity, instance.exactly_one)
    return None if best is None else whole.unit * best


def exhaustion_bound(
    instance: KnapsackInstance,
    certificate: KnapsackCertificate,
    most_steps: int = exhaustion.MOST_STEPS,
) -> Fraction:
    """Return `at_most`, or the profit of the best choice that brings more.

    Raises
    ------
    ValueError
        If the number of multipliers is not that of the rows, numbers have too many digits, or the
        check would take more than `most_steps`.
    """
    assert certificate.at_most is not None  # its validator makes sure
    unit = instance.whole.unit
    at_most = math.floor(certificate.at_most / unit)
    capacities, prices = instance.whole.capacities, whole_prices(instance, certificate)
    try:
        best = largest_profit(options(instance), capacities, prices, at_most + 1, most_steps)
    except ValueError as error:
        raise ValueError(f"exhaustion: {error}") from None
    return unit * (at_most if best is None else best)


def whole_prices(instance: KnapsackInstance, certificate: KnapsackCertificate) -> Prices:
    """Return all multipliers of a certificate in whole numbers, as the check takes them."""
    whole, rows = instance.whole, len(instance.capacities)
    check_prices(certificate.multipliers, "multipliers", rows, "capacities")
    for k, more in enumerate(certificate.further):
        check_prices(more.multipliers, f"further[{k}].multipliers", rows, "capacities")
    vectors = [certificate.multipliers, *(more.multipliers for more in certificate.further)]
    scales = [whole.unit * s for s in whole.row_scales]
    exact = [[y / s for y, s in zip(vector, scales, strict=True)] for vector in vectors]
    scale = common_denominator([price for vector in exact for price in vector])
    main, *others = [[int(price * scale) for price in vector] for vector in exact]
    left = [more.groups_left for more in certificate.further]
    return Prices(scale, main, tuple(zip(left, others, strict=True)))


def options(instance: KnapsackInstance) -> list[list[Option]]:
    """Return the options of every group: the items that fit alone and, where allowed, nothing."""
    nothing: list[Option] = [(0, (0,) * len(instance.capacities))]
    return [[*items, *([] if instance.exactly_one else nothing)] for items in _fitting(instance)]


def _fitting(instance: KnapsackInstance) -> list[list[tuple[int, tuple[int, ...]]]]:
    """Return the items of each group that fit alone; the others are in no feasible choice."""
    whole = instance.whole
    return [[i for i in items if all(map(le, i[1], whole.capacities))] for items in whole.items]


def _whole_prices(
    instance: KnapsackInstance, multipliers: Sequence[Fraction]
) -> tuple[list[int], int]:
    """Return multipliers of the rows in whole numbers, times their common denominator."""
    prices = [y / s for y, s in zip(multipliers, instance.whole.row_scales, strict=True)]
    denominator = common_denominator(prices)
    return [int(p * denominator) for p in prices], denominator


def _weighed(amounts: Sequence[int], prices: Sequence[int]) -> int:
    return sum(map(mul, amounts, prices))


def _one_row(
    profit: list[list[int]], weight: list[list[int]], capacity: int, exactly_one: bool
) -> int | None:
    """Return the largest profit of at most, or exactly, one item of each group within a row."""
    cells = min(capacity + 1, 10**100)  # larger numbers overflow the message
    steps = cells * sum(map(len, profit))
    if cells > MOST_CELLS or steps > MOST_STEPS:
        raise TableTooLarge(
            f"multipliers: the surrogate knapsack takes {steps:.2g} steps on {cells:.2g} cells, "
            f"expected at most {MOST_STEPS:.0e} on {MOST_CELLS:.0e}"
        )
    if sum(max(row, default=0) for row in profit) > 2**62:
        raise TableTooLarge("profits: too many digits for 64 bits")
    nothing = np.int64(-(2**62))
    best = np.zeros(capacity + 1, dtype=np.int64)  # largest profit so far, by capacity
    for profits, weights in zip(profit, weight, strict=True):
        after = np.full_like(best, nothing) if exactly_one else best.copy()
        for p, w in zip(profits, weights, strict=True):
            if w <= capacity:
                reached = best[: capacity + 1 - w]
                np.maximum(after[w:], np.where(reached < 0, nothing, reached + p), out=after[w:])
        best = after
    top = int(best[-1])
    return None if top < 0 else top
