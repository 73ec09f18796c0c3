r"""Exact enumeration, sliced by the number of items chosen.

With :math:`k = \sum_c y_c` fixed, the linear relaxation has one more dual, and its bound
:math:`U_k` falls on both sides of the number of items that the relaxation takes, so that few k
remain above an incumbent. Each slice is enumerated with its own duals, and for falling
thresholds T: if no choice of profit T or more exists, the optimum is below T; the first choice
found above T is optimal. The number of nodes grows exponentially with the root of the distance. So
the thresholds before the last one cost little, and a run that is stopped still has the bound of the
last threshold finished.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.pieces.knapsack.enumeration import Enumerated, Levels, enumerate_levels
from gadgetopt.pieces.knapsack.heuristics.local_search import first_choice
from gadgetopt.pieces.knapsack.integral import (
    LEAST_IMPROVEMENT,
    Integral,
    decimal_unit,
    integral,
)
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import (
    Relaxation,
    best_of_groups,
    linear_relaxation,
    only_items,
    reduced_profits,
    usable_items,
)
from gadgetopt.pieces.knapsack.slices import Slice, count_slices
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

#: Number of options besides the best ones that the first threshold leaves.
#: Tuned: `benchmarks/constants.py`.
FIRST_OPTIONS = 20
#: A threshold closer to the incumbent than this part of the gap is set to the incumbent.
#: Tuned: `benchmarks/constants.py`.
LAST_STEP = 0.125
#: Factor by which the nodes shall grow from one threshold to the next.
#: Tuned: `benchmarks/constants.py`.
GROWTH = 4.0
#: Reduced costs keep items whose loss exceeds the gap by no more than this, relative to profits.
#: Tuned: `benchmarks/constants.py`.
FIXING_SLACK = 1e-7


@dataclass
class Search:
    """Search state while thresholds fall.

    Profits are multiples of 1 / `unit`, unless that is None, and a better choice is better by at
    least `improvement`. `rounding` is the most by which rounding profits up may have misled
    the enumeration.
    """

    unit: int | None
    improvement: float
    best: Ints | None
    value: float
    bound: float
    nodes: int = 0
    largest_core: int = 0
    rounding: float = 0.0
    finished: bool = True


def solve_by_cardinality(
    knapsack: Knapsack, limits: Limits | None = None, *, by_count: bool = True
) -> CoreResult:
    """Solve a knapsack exactly by enumeration of slices.

    Parameters
    ----------
    knapsack : Knapsack
    limits : Limits, optional
        `time_s` is kept; one thread is used.
    by_count : bool
        Slice by the number of items chosen, where groups are single items that may be left out;
        else there is one slice.

    Raises
    ------
    ModelRefused
        If weights have more than six decimals or numbers are too large for exact sums.
    """
    clock = Clock(limits)
    relaxation = linear_relaxation(knapsack, clock.limits())
    if relaxation.infeasible:
        return CoreResult(None, -math.inf, -math.inf, "not even fractions of items fit")
    if relaxation.duals is None or relaxation.limit_hit:
        return stopped_early(relaxation)
    chosen = incumbent(knapsack, relaxation, clock)
    return enumerate_slices(knapsack, relaxation, chosen, clock, by_count=by_count)


def stopped_early(relaxation: Relaxation) -> CoreResult:
    """Return the result of a run whose time is up within the linear program."""
    return CoreResult(
        None,
        -math.inf,
        relaxation.bound,
        "Lagrangian bound",
        relaxation.duals,
        relaxation.bound,
        relaxation.limit_hit,
    )


def incumbent(knapsack: Knapsack, relaxation: Relaxation, clock: Clock) -> Ints | None:
    """Return a good feasible choice near the linear relaxation; None if none is found."""
    assert relaxation.duals is not None
    items = np.flatnonzero(usable_items(knapsack))
    usable = only_items(knapsack, items)
    losses = losses_of_items(usable, relaxation.duals)
    chosen = first_choice(usable, relaxation.y[items], losses, clock)
    return None if chosen is None else items[chosen]


def losses_of_items(knapsack: Knapsack, duals: Floats) -> Floats:
    """Return the loss of the Lagrangian bound if an item is chosen, shape (items,)."""
    reduced = reduced_profits(knapsack, duals)
    return np.asarray(_best_of_owner(knapsack, reduced) - reduced)


def enumerate_slices(
    knapsack: Knapsack,
    relaxation: Relaxation,
    chosen: Ints | None,
    clock: Clock,
    *,
    by_count: bool = True,
    most_nodes: float = math.inf,
) -> CoreResult:
    """Enumerate the choices that can beat an incumbent, slice by slice.

    Parameters
    ----------
    knapsack : Knapsack
    relaxation : Relaxation
        Solved to optimality.
    chosen : ndarray of int or None
        The incumbent.
    clock : Clock
    by_count : bool
        As for `solve_by_cardinality`.
    most_nodes : float
        Number of nodes after which to stop.

    Raises
    ------
    ModelRefused
        As for `solve_by_cardinality`.
    """
    assert relaxation.duals is not None
    duals = relaxation.duals
    kept = np.flatnonzero(usable_items(knapsack))
    usable = only_items(knapsack, kept)
    value = -math.inf if chosen is None else knapsack.value(chosen)
    unit = decimal_unit(knapsack.profit)
    bound = relaxation.bound if unit is None else math.floor(relaxation.bound * unit) / unit
    search = Search(unit, least_improvement(knapsack, unit), chosen, value, bound)
    single = knapsack.num_groups == knapsack.num_items and not knapsack.exactly_one
    slices = [Slice(usable, duals, relaxation.bound)]
    limit_hit = None
    try:
        if by_count and single and len(kept):
            slices = count_slices(usable, float(relaxation.y.sum()), value, clock)
        for threshold in thresholds(search, knapsack, first_gap(usable, duals)):
            pass_over(slices, kept, knapsack, search, threshold, clock, most_nodes)
            if not search.finished:
                break
    except TimeoutError:
        search.finished = False
    except KeyboardInterrupt:
        limit_hit, search.finished = "interrupted", False
    if not search.finished and limit_hit is None:
        limit_hit = "time_s" if clock.expired else "nodes"
    return CoreResult(
        None if search.best is None else np.sort(search.best),
        search.value,
        float(max(search.bound, search.value)),
        "enumeration in exact arithmetic"
        + (" of every number of items" if by_count and single else ""),
        duals,
        relaxation.bound,
        limit_hit,
        {
            "slices": len(slices),
            "nodes": search.nodes,
            "largest_core": search.largest_core,
            "relaxation": relaxation.value,
        },
    )


def first_gap(knapsack: Knapsack, duals: Floats) -> float:
    """Return a distance below the bound within which there are few options to enumerate."""
    reduced = reduced_profits(knapsack, duals)
    losses = _best_of_owner(knapsack, reduced) - reduced
    if not knapsack.exactly_one:
        losses = np.concatenate([losses, best_of_groups(knapsack, reduced)[1]])
    losses = losses[losses > 0]
    few = min(FIRST_OPTIONS, len(losses)) - 1
    return float(np.partition(losses, few)[few]) if len(losses) else 0.0


def thresholds(search: Search, knapsack: Knapsack, gap: float) -> Iterator[float]:
    """Yield falling thresholds until the incumbent, which may improve meanwhile, is optimal.

    After a threshold is finished the search either has a choice at least that good, or its bound
    has come down to the threshold. The first one is `gap` below the bound.
    """
    improvement = search.improvement
    top = search.bound
    # Without an incumbent, thresholds fall until one is found or nothing is left.
    lowest = -float(np.abs(knapsack.profit).sum()) - 1.0
    gap = max(gap, improvement)
    while search.bound - search.value >= improvement:
        end = max(lowest, search.value + improvement)
        # Close to the end a further threshold would not pay.
        threshold = end if top - gap <= end + LAST_STEP * (top - end) else top - gap
        before = search.nodes
        yield threshold
        if threshold == end or search.value >= threshold:
            if search.best is None:
                search.bound = -math.inf
            return
        # Nodes grow like exp(c sqrt(gap)).
        logarithm = max(2.0, math.log(1.0 + search.nodes - before))
        gap *= (1 + math.log(GROWTH) / logarithm) ** 2


def least_improvement(knapsack: Knapsack, unit: int | None) -> float:
    """Return the least improvement of a better choice; smaller ones do not count."""
    if unit is not None:
        return 1.0 / unit
    return LEAST_IMPROVEMENT * float(np.abs(knapsack.profit).max(initial=0.0))


def pass_over(
    slices: list[Slice],
    kept: Ints,
    knapsack: Knapsack,
    search: Search,
    threshold: float,
    clock: Clock,
    most_nodes: float,
) -> None:
    """Enumerate all slices down to a threshold, and record the choice and bound that result."""
    improvement = search.improvement
    for part in sorted(slices, key=lambda part: -part.bound):
        least = max(threshold, search.value + improvement)
        if part.bound < least - improvement * 1e-3:
            continue
        found, items = enumerate_slice(part, least, clock, most_nodes - search.nodes, search)
        search.nodes += found.nodes
        if items is not None and knapsack.value(kept[items]) > search.value:
            search.best, search.value = kept[items], knapsack.value(kept[items])
        if not found.finished:
            search.finished = False
            return
    # Nothing is left at `least` or above; whole profits are then a unit lower.
    least = max(threshold, search.value + improvement)
    unit = search.unit
    if unit is not None:
        least = (math.ceil(round(least * unit, 6)) - 1) / unit
    search.bound = min(search.bound, least + search.rounding)


def enumerate_slice(
    part: Slice, least: float, clock: Clock, most_nodes: float, search: Search
) -> tuple[Enumerated, Ints | None]:
    """Return the best choice of a slice that has at least some profit, and its items."""
    knapsack, duals = part.knapsack, part.duals
    reduced = reduced_profits(knapsack, duals)
    best = _best_of_owner(knapsack, reduced)
    slack = part.bound - least
    slack += FIXING_SLACK * float(np.abs(knapsack.profit).max(initial=0.0))
    core = np.flatnonzero(best - reduced <= slack)
    search.largest_core = max(search.largest_core, len(core))
    nothing_loses = np.zeros(knapsack.num_groups)
    nothing_loses[knapsack.owner] = best
    small = only_items(knapsack, core)
    whole = integral(small, duals)
    levels, items = _levels(small, whole, nothing_loses <= slack, core)
    # Profits were rounded up, so that a true profit of this size is reached here too.
    need = float(math.ceil(least * whole.scale))
    if whole.whole_profits:
        need = math.ceil(round(least * (whole.scale / whole.step), 6)) * whole.step
    if not whole.whole_profits:
        search.rounding = max(search.rounding, len(items) / whole.scale)
    found = enumerate_levels(levels, whole.prices(duals), need, whole.step, clock, most_nodes)
    if found.options is None:
        return found, None
    taken = [int(i[o]) for i, o in zip(items, found.options, strict=True)]
    return found, np.array([c for c in taken if c >= 0], dtype=np.int64)


def _levels(
    small: Knapsack, whole: Integral, may_be_empty: Bools, core: Ints
) -> tuple[Levels, list[Ints]]:
    """Return a level for every group of the core, and the item of every option, or -1.

    A group that must not be empty and has no items left becomes a level without options.
    """
    starts = small.group_starts
    rows = len(whole.capacity)
    profits, weights, items = [], [], []
    for i in range(len(may_be_empty)):
        first, last = (starts[i], starts[i + 1]) if i < small.num_groups else (0, 0)
        profit, weight, names = whole.profit[first:last], whole.weight[first:last], core[first:last]
        if not small.exactly_one and may_be_empty[i]:
            if first == last:
                continue
            profit = np.append(profit, 0.0)
            weight = np.vstack([weight, np.zeros(rows)])
            names = np.append(names, -1)
        profits.append(profit)
        weights.append(weight)
        items.append(names)
    levels = Levels(profits, weights, whole.capacity, whole.reach, whole.profit_reach, whole.scale)
    return levels, items


def _best_of_owner(knapsack: Knapsack, reduced: Floats) -> Floats:
    """Return the most that the group of each item adds to the Lagrangian bound."""
    best = np.full(knapsack.num_groups, -math.inf if knapsack.exactly_one else 0.0)
    starts = knapsack.group_starts
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        best[filled] = np.maximum(best[filled], np.maximum.reduceat(reduced, starts[filled]))
    return np.asarray(best[knapsack.owner])
