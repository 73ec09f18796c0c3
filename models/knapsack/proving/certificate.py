r"""Certificates of bounds on the profit: multipliers of the rows, and what is left at them.

No less than the optimum is the Lagrangian bound (`multipliers.py`). Neither is the optimum of the
surrogate knapsack, whose one row is the sum of all rows with these multipliers,

.. math::
    \sum_i \lfloor \lambda^\top a_{ic_i} \rfloor \le \lfloor \lambda^\top C \rfloor,

rounded down to whole numbers, which every feasible choice survives, and solved by dynamic
programming. Without the rounding, to which large multipliers come close, it is never worse than the
Lagrangian bound. Either bound is rounded down to a multiple of the profits' unit.

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

import numpy as np

from gadgetopt.numbers.exact import check_prices, common_denominator
from gadgetopt.numbers.memory import MOST_CELLS as TABLE_CELLS
from gadgetopt.pieces.knapsack.proofs import exhaustion
from gadgetopt.pieces.knapsack.proofs.exhaustion import Option, Prices, largest_profit
from gadgetopt.search.checked import checked_once

from ..instance import KnapsackInstance
from ..multipliers import KnapsackCertificate

#: Most table entries that the dynamic program of the surrogate bound may compute, and may hold.
MOST_STEPS, MOST_CELLS = 10**9, TABLE_CELLS // 2


class TableTooLarge(ValueError):
    """The dynamic program of a surrogate bound takes too long or has numbers of too many digits."""


@checked_once
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
    unit = instance.whole.unit
    return None if bound is None else unit * math.floor(bound / unit)


def lagrangian_bound(
    instance: KnapsackInstance, multipliers: Sequence[Fraction]
) -> Fraction | None:
    """Return L at the multipliers; None if a group must have an item chosen and none fits.

    `multipliers.py` computes it for the search; a test holds the two against each other.

    Raises
    ------
    ValueError
        If the number of multipliers is not that of the rows.
    """
    whole = instance.whole
    check_prices(multipliers, "multipliers", len(instance.capacities), "capacities")
    prices, parts = _whole_prices(instance, [y / whole.unit for y in multipliers])
    total = _weighed(whole.capacities, prices)
    for items in _fitting(instance):
        worth = [parts * profit - _weighed(weights, prices) for profit, weights in items]
        if not instance.exactly_one:
            worth.append(0)
        if not worth:
            return None
        total += max(worth)
    return whole.unit * Fraction(total, parts)


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
    capacities, prices = instance.whole.capacities, all_prices(instance, certificate)
    try:
        best = largest_profit(options(instance), capacities, prices, at_most + 1, most_steps)
    except ValueError as error:
        raise ValueError(f"exhaustion: {error}") from None
    return unit * (at_most if best is None else best)


def all_prices(instance: KnapsackInstance, certificate: KnapsackCertificate) -> Prices:
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
    capacities = instance.whole.capacities
    return [[x for x in items if all(map(le, x[1], capacities))] for items in instance.whole.items]


def _whole_prices(
    instance: KnapsackInstance, multipliers: Sequence[Fraction]
) -> tuple[list[int], int]:
    """Return prices of whole units of weight, times their common denominator, and that."""
    prices = [y / s for y, s in zip(multipliers, instance.whole.row_scales, strict=True)]
    parts = common_denominator(prices)
    return [int(p * parts) for p in prices], parts


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
