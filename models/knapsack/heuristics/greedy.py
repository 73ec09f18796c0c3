"""Greedy choice of items, the baseline of the other methods."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.pieces.knapsack.heuristics.local_search import by_density
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import shares
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import KnapsackInstance
from ..scaling import scaled


@method(kind="baseline", reference="greedy")
def greedy(instance: KnapsackInstance, limits: Limits) -> MethodOutcome:
    """By profit per part of the fullest row; exchanges within groups.

    Return a greedy choice: by density, or by exchanges within groups; no guarantee.

    Raises
    ------
    ModelRefused
        If the numbers of the instance have too many digits.
    """
    whole = scaled(instance)
    chosen, stopped = greedy_items(whole.knapsack, limits)
    return MethodOutcome(
        solution=None if chosen is None else whole.solution(instance, chosen),
        claimed_objective=None if chosen is None else whole.profit(whole.knapsack.value(chosen)),
        limit_hit="time_s" if stopped else None,
    )


def greedy_items(knapsack: Knapsack, limits: Limits) -> tuple[Ints | None, bool]:
    """Return the items of the greedy choice, and True if the time limit stopped the search.

    Returns
    -------
    (ndarray of int or None, bool)
        None where every group needs an item and the lightest ones do not fit together.
    """
    single = knapsack.num_groups == knapsack.num_items and not knapsack.exactly_one
    return (by_density(knapsack), False) if single else by_upgrades(knapsack, limits)


def by_upgrades(knapsack: Knapsack, limits: Limits) -> tuple[Ints | None, bool]:
    """Start from nothing, or the lightest items, and exchange items while that gains.

    Of the exchanges within a group that fit, the one with the largest gain per capacity it takes is
    made; those that take none come first, by gain. Profit grows with every step, so this ends.
    """
    clock = Clock(limits)
    share = shares(knapsack)
    # Item chosen of each group; without one, an item of no profit and no weight, the last row.
    none = knapsack.num_items
    profit = np.append(knapsack.profit, 0.0)
    weight = np.vstack([knapsack.weight, np.zeros(len(knapsack.capacity))])
    chosen = np.full(knapsack.num_groups, none, dtype=np.int64)
    if knapsack.exactly_one:
        starts = knapsack.group_starts
        for i in range(knapsack.num_groups):
            chosen[i] = starts[i] + np.argmin(share[starts[i] : starts[i + 1]])
    left = knapsack.capacity - weight[chosen].sum(axis=0)
    if np.any(left < 0):
        return None, False
    scale = np.where(knapsack.capacity > 0, knapsack.capacity, 1.0)
    while True:
        now = chosen[knapsack.owner]
        gain = knapsack.profit - profit[now]
        more = knapsack.weight - weight[now]
        good = (gain > 0) & np.all(more <= left, axis=1)
        stopped = clock.expired
        if stopped or not good.any():
            return chosen[chosen != none], stopped
        taken = (more / scale).max(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.where(taken > 0, gain / taken, np.inf)
        worth = np.where(good, worth, -np.inf)
        ties = np.flatnonzero(worth == worth.max())
        best = ties[np.argmax(gain[ties])]
        left -= more[best]
        chosen[knapsack.owner[best]] = best
