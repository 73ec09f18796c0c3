r"""Kernels of multiple-choice knapsacks, each enumerated to the end.

At the prices of the linear relaxation every option, an item of a group or nothing, has a loss: what
the Lagrangian bound falls by if it is taken. In good choices all losses are tiny, and most groups
take an option without loss. So a kernel has the options without loss, those that the relaxation
takes in part, and the e items of the least positive loss; it is searched by enumeration in exact
arithmetic, with the best choice so far as threshold, and e grows. The idea of kernels is that of
kernel search and of "reduce and solve" (Chen and Hao 2014); enumeration in place of an integer
solver is ours. Once the kernel has every item that a better choice can take, its optimum is the
knapsack's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.pieces.knapsack.cardinality import (
    FIXING_SLACK,
    enumerate_slices,
    least_improvement,
    losses_of_items,
)
from gadgetopt.pieces.knapsack.integral import decimal_unit
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import Relaxation, only_items, usable_items
from gadgetopt.search.clock import Clock

#: Items with a loss in the first kernel, and factor from one kernel to the next.
#: Tuned: `benchmarks/constants.py`.
FIRST_ITEMS = 5
GROWTH = 1.25
#: Loss, relative to the largest profit, that counts as none. Tuned: `benchmarks/constants.py`.
NO_LOSS = 1e-9


@dataclass(frozen=True)
class Ladder:
    """What a ladder of kernels found.

    Attributes
    ----------
    chosen : ndarray of int or None
        The best choice.
    lossy : int
        Items with a loss in the largest kernel that was enumerated to the end.
    nodes : int
    proved : float or None
        Bound on all choices, if the last kernel had everything that a better one can take.
    interrupted : bool
    """

    chosen: Ints | None
    lossy: int
    nodes: int
    proved: float | None = None
    interrupted: bool = False


def climb(
    knapsack: Knapsack,
    relaxation: Relaxation,
    chosen: Ints | None,
    clock: Clock,
    most_nodes: float = math.inf,
    first: float = 0.0,
) -> Ladder:
    """Enumerate larger and larger kernels until the time or the nodes are used up.

    Parameters
    ----------
    knapsack : Knapsack
    relaxation : Relaxation
        Solved to optimality.
    chosen : ndarray of int or None
        A choice that fits.
    clock : Clock
    most_nodes : float
        Nodes of all kernels together.
    first : float
        Least number of items with a loss in the first kernel.

    Raises
    ------
    ModelRefused
        If the numbers are not made for exact sums in doubles.
    """
    assert relaxation.duals is not None
    kept = np.flatnonzero(usable_items(knapsack))
    losses = losses_of_items(only_items(knapsack, kept), relaxation.duals)
    largest = float(np.abs(knapsack.profit).max(initial=0.0))
    none = (losses <= NO_LOSS * largest) | (relaxation.y[kept] > NO_LOSS)
    lossy = np.flatnonzero(~none)
    lossy = lossy[np.argsort(losses[lossy], kind="stable")]
    unit = decimal_unit(knapsack.profit)
    improvement = least_improvement(knapsack, unit)
    value = -math.inf if chosen is None else knapsack.value(chosen)
    found = Ladder(chosen, 0, 0)
    size = max(float(FIRST_ITEMS), first)
    while not clock.expired and found.nodes < most_nodes:
        items = kept[np.union1d(np.flatnonzero(none), lossy[: int(size)])]
        if found.chosen is not None:
            items = np.union1d(items, found.chosen)
        known = None if found.chosen is None else np.searchsorted(items, found.chosen)
        result = enumerate_slices(
            only_items(knapsack, items),
            replace(relaxation, y=relaxation.y[items]),
            known,
            # If the first kernel is too large, someone else gets the other half of the time.
            clock if found.lossy else Clock(clock.limits(0.5)),
            by_count=False,
            most_nodes=most_nodes - found.nodes,
        )
        better = result.chosen is not None and result.value > value
        if better and result.chosen is not None:
            chosen, value = items[result.chosen], result.value
        ended = result.limit_hit is None
        # What a choice better than the best one cannot take.
        gap = relaxation.bound - value - improvement + FIXING_SLACK * largest
        whole = int(size) >= len(lossy) or losses[lossy[int(size)]] > gap
        found = Ladder(
            chosen,
            min(int(size), len(lossy)) if ended else found.lossy,
            found.nodes + int(result.notes["nodes"]),
            # Profits without a unit leave room for less than an improvement.
            max(result.bound, value + (0.0 if unit else improvement)) if ended and whole else None,
            result.limit_hit == "interrupted",
        )
        if not ended or whole:
            break
        size *= GROWTH
    return found
