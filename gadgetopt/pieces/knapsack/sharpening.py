r"""A better incumbent before the core is searched, and who has to search it.

Single items get the memetic search, groups a ladder of kernels. With `mip` HiGHS searches among the
least certain items instead; so it does where loops are not compiled, and for the groups whose
numbers the enumeration refuses.

Whether enumeration can finish is judged by the number of sets of options whose losses together are
at most the gap, since no other set can be better than the incumbent. Beyond :math:`10^{13}` sets of
single items it does not finish (our own rule; the page links what was measured). Their search then
takes half of the time: when four populations have brought nothing, packings near the relaxation are
gone through (`deviations`). The other half is for the bound, by enumeration. If more than
:math:`10^9` sets lose no more than a quarter of the gap, the search ends when four populations have
brought nothing, and HiGHS lowers the bound in all the time that is left; beyond :math:`10^{10}` the
search has no more than a tenth of the time, as HiGHS alone would otherwise have the better bound.
For groups, whose levels left are bounded anew at many depths, enumeration is begun after small
kernels with up to :math:`10^{14}` sets, and with up to :math:`10^{18}` after larger ones, which
take half of the time. Beyond these, kernels take all of it; HiGHS gets half where groups are many
and the limit is long, or where the first kernel is too large.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.compiled import COMPILED, slow_note
from gadgetopt.pieces.knapsack.cardinality import losses_of_items
from gadgetopt.pieces.knapsack.direct import solve_mip
from gadgetopt.pieces.knapsack.heuristics.deviations import NearRelaxation
from gadgetopt.pieces.knapsack.heuristics.memetic import MemeticSearch
from gadgetopt.pieces.knapsack.kernels import Ladder, climb
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import (
    Relaxation,
    best_of_groups,
    only_items,
    reduced_profits,
    usable_items,
)
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import seed_of
from gadgetopt.system.result import Limits

Sharpening = Literal["auto", "search", "mip"]

#: The core of single items is not enumerated to the end if more sets than this could be better.
#: Tuned: `benchmarks/constants.py`.
MOST_SETS = 1e13
#: If more sets than this lose no more than a part of the gap, enumeration hardly lowers the bound.
#: Tuned: `benchmarks/constants.py`.
SETS_OF_BOUNDS, PART_OF_BOUNDS = 1e9, 0.25
#: Beyond this number, no better incumbent will change that: HiGHS lowers the bound, and as it needs
#: all the time for it, the search has this part only. Tuned: `benchmarks/constants.py`.
SETS_OF_HIGHS, SETTLING_PART = 1e10, 0.1
#: Cells into which the gap is divided to count these sets. Tuned: `benchmarks/constants.py`.
CELLS = 500
#: With fewer sets enumeration is done before a search of single items would pay; with fewer than
#: the second number only a short search does. Tuned: `benchmarks/constants.py`.
SETS_WITHOUT_SEARCH, SETS_OF_SHORT_SEARCH = 1e6, 1e10
#: Children of the short search and of the longer one; their part of the time, and seconds.
#: Tuned: `benchmarks/constants.py`.
SHORT_CHILDREN, LONGER_CHILDREN = 100_000, 500_000
MEMETIC_PART, MEMETIC_S = 0.15, 1.5
#: With more sets than this the lists of two halves are too long. Tuned: `benchmarks/constants.py`.
SETS_OF_HALVES = 5e8
#: Part of the time for the search of a core that enumeration cannot finish, and its seconds without
#: a limit. If HiGHS has to lower the bound, it starts when so many populations brought nothing.
#: Tuned: `benchmarks/constants.py`.
SEARCH_PART, SEARCH_S, SETTLED = 0.5, 60.0, 4
#: Nodes of the small kernels of groups, and their part of the time.
#: Tuned: `benchmarks/constants.py`.
NODES_OF_FEW_KERNELS, FEW_KERNELS_PART = 300_000, 0.25
#: With no more sets than the first number the enumeration of groups follows at once; with no more
#: than the second it gets what larger kernels leave of the time. Tuned: `benchmarks/constants.py`.
SETS_OF_GROUPS, MOST_SETS_OF_GROUPS = 1e14, 1e18
#: HiGHS gets the other part for groups only if they are so many and the limit is so long.
#: Tuned: `benchmarks/constants.py`.
MANY_GROUPS, LONG_S = 300, 59.0
#: A level for every group costs time in every kernel, an item in every child.
#: Tuned: `benchmarks/constants.py`.
MOST_GROUPS = 5_000

#: A better incumbent of groups is searched for by HiGHS among this many items of every group, those
#: of least loss, if the gap to the first one leaves more; for so many seconds, and to this
#: relative gap. Tuned: `benchmarks/constants.py`.
FIRST_CORE = 4
LARGE_CORE = 2000
FIRST_CORE_S = 10.0
FIRST_CORE_GAP = 1e-9
#: If the gap leaves more single items undecided than this, HiGHS searches among so many of the
#: smallest reduced profits, at most for so many seconds. Tuned: `benchmarks/constants.py`.
UNDECIDED = 150
WINDOWS = ((200, 3.0), (600, 3.0))


@dataclass(frozen=True)
class Sharpened:
    """A better incumbent, and what it means for the search of the core.

    Attributes
    ----------
    chosen : ndarray of int or None
    enumerable : bool
        False if enumeration cannot finish; what is left of the time is for bounds, or HiGHS.
    lowers : bool
        True if enumeration that cannot finish lowers the bound faster than HiGHS.
    halves : bool
        True if single items are few enough for a search in two halves.
    proved : float or None
        A bound that enumeration proved: the choice is optimal.
    interrupted : bool
    notes : mapping
    """

    chosen: Ints | None
    enumerable: bool = True
    lowers: bool = True
    halves: bool = True
    proved: float | None = None
    interrupted: bool = False
    notes: Mapping[str, Any] = field(default_factory=dict)


def single_items(knapsack: Knapsack) -> bool:
    """Return True if every group has one item, which may be left out."""
    return knapsack.num_groups == knapsack.num_items and not knapsack.exactly_one


def searches(knapsack: Knapsack, by: Sharpening) -> bool:
    """Return True if the better incumbent comes from the memetic search or kernels, not HiGHS."""
    slow = by == "auto" and single_items(knapsack) and not COMPILED
    return by != "mip" and not slow and knapsack.num_groups <= MOST_GROUPS


def sharpened(
    knapsack: Knapsack,
    relaxation: Relaxation,
    chosen: Ints | None,
    clock: Clock,
    rng: np.random.Generator | None,
    *,
    by_search: bool = True,
) -> Sharpened:
    """Return a better choice if the gap to the incumbent leaves many items.

    Parameters
    ----------
    knapsack : Knapsack
    relaxation : Relaxation
        Solved to optimality.
    chosen : ndarray of int or None
        The incumbent.
    clock : Clock
    rng : numpy.random.Generator, optional
        Gives the search, or HiGHS, its seed.
    by_search : bool
        False if HiGHS looks for it.
    """
    single = single_items(knapsack)
    if not by_search:
        return Sharpened(_by_mip(knapsack, relaxation, chosen, clock, rng))
    sets = sets_within_gap(knapsack, relaxation, chosen)
    if single and sets > SETS_WITHOUT_SEARCH:
        return _by_memetic_search(knapsack, relaxation, chosen, clock, rng)
    if not single and sets > SETS_WITHOUT_SEARCH:
        return _by_kernels(knapsack, relaxation, chosen, clock, rng)
    return Sharpened(chosen)


def sets_within_gap(
    knapsack: Knapsack, relaxation: Relaxation, chosen: Ints | None, part: float = 1.0
) -> float:
    """Return how many sets of options lose no more than a part of the gap; rounded upward.

    Rows do not count. Infinity without an incumbent, or beyond `MOST_SETS_OF_GROUPS`.
    """
    assert relaxation.duals is not None
    if chosen is None:
        return math.inf
    gap = part * (relaxation.bound - knapsack.value(chosen))
    usable = only_items(knapsack, np.flatnonzero(usable_items(knapsack)))
    losses = losses_of_items(usable, relaxation.duals)
    groups = usable.owner
    if not knapsack.exactly_one:
        owners, nothing = best_of_groups(usable, reduced_profits(usable, relaxation.duals))
        losses, groups = np.concatenate([losses, nothing]), np.concatenate([groups, owners])
    within = losses <= gap
    sets = np.zeros(CELLS + 1)
    sets[0] = 1.0
    cells = np.floor(losses[within] / max(gap, 1e-300) * CELLS).astype(np.int64)
    order = np.argsort(groups[within], kind="stable")
    _, starts = np.unique(groups[within][order], return_index=True)
    for options in np.split(cells[order], starts[1:]):
        if len(options) > 1:
            shifted = [sets[: CELLS + 1 - c] for c in np.minimum(options, CELLS).tolist()]
            sets = sum((np.pad(s, (CELLS + 1 - len(s), 0)) for s in shifted), np.zeros(CELLS + 1))
            if sets.sum() > MOST_SETS_OF_GROUPS:
                return math.inf
    return float(sets.sum())


def _by_memetic_search(
    knapsack: Knapsack,
    relaxation: Relaxation,
    chosen: Ints | None,
    clock: Clock,
    rng: np.random.Generator | None,
) -> Sharpened:
    search = MemeticSearch(knapsack, relaxation, chosen, seed_of(rng))
    near: NearRelaxation | None = None
    interrupted, enumerable, lowers, sets = False, True, True, 0.0
    try:
        step = Clock(clock.limits(MEMETIC_PART, MEMETIC_S))
        search.run(step, SHORT_CHILDREN)
        sets = sets_within_gap(knapsack, relaxation, search.chosen)
        if sets > SETS_OF_SHORT_SEARCH:
            search.run(step, LONGER_CHILDREN - search.children)
            sets = sets_within_gap(knapsack, relaxation, search.chosen)
        enumerable = sets <= MOST_SETS
        if not enumerable:
            few = sets_within_gap(knapsack, relaxation, search.chosen, PART_OF_BOUNDS)
            part = SETTLING_PART if few > SETS_OF_HIGHS else SEARCH_PART
            step = Clock(clock.limits(part, _most_s(clock)))
            search.settle(step, SETTLED)
            few = sets_within_gap(knapsack, relaxation, search.chosen, PART_OF_BOUNDS)
            lowers = few <= SETS_OF_BOUNDS
            if lowers:
                assert search.chosen is not None
                near = NearRelaxation(knapsack, relaxation, search.chosen)
                if near.lists_choices and COMPILED:
                    near.run(step)
                search.run(step)
    except KeyboardInterrupt:
        interrupted = True
    notes = {"children": search.children, "populations": search.populations, **slow_note()}
    best = search.chosen
    if near is not None:
        notes["sets_near_relaxation"] = near.sets
        best = near.chosen if near.value > search.value else best
    halves = enumerable and sets <= SETS_OF_HALVES
    return Sharpened(best, enumerable, lowers, halves, interrupted=interrupted, notes=notes)


def _by_kernels(
    knapsack: Knapsack,
    relaxation: Relaxation,
    chosen: Ints | None,
    clock: Clock,
    rng: np.random.Generator | None,
) -> Sharpened:
    """Climb small kernels, and larger ones too unless enumeration of everything can then finish."""
    try:
        step = Clock(clock.limits(FEW_KERNELS_PART))
        ladder = climb(knapsack, relaxation, chosen, step, NODES_OF_FEW_KERNELS)
        sets = sets_within_gap(knapsack, relaxation, ladder.chosen)
        ended = ladder.interrupted or ladder.proved is not None or sets <= SETS_OF_GROUPS
        if not ended:
            ladder = _by_large_kernels(knapsack, relaxation, ladder, clock, sets)
    except ModelRefused:
        if sets_within_gap(knapsack, relaxation, chosen) <= SETS_OF_GROUPS:
            return Sharpened(chosen)
        return Sharpened(_by_mip(knapsack, relaxation, chosen, clock, rng))
    return Sharpened(
        ladder.chosen,
        enumerable=sets <= MOST_SETS_OF_GROUPS or ladder.proved is not None,
        halves=False,
        proved=ladder.proved,
        interrupted=ladder.interrupted,
        notes={"kernel": ladder.lossy, "kernel_nodes": ladder.nodes, **slow_note()},
    )


def _by_large_kernels(
    knapsack: Knapsack, relaxation: Relaxation, small: Ladder, clock: Clock, sets: float
) -> Ladder:
    """Climb on from small kernels, for as long as nobody else needs the time."""
    long = clock.left_s + clock.elapsed_s >= LONG_S
    shared = sets <= MOST_SETS_OF_GROUPS or (knapsack.num_groups >= MANY_GROUPS and long)
    limits = clock.limits(SEARCH_PART if shared else 1.0, _most_s(clock))
    # The larger of the small kernels may have run out of nodes, not of time.
    large = climb(knapsack, relaxation, small.chosen, Clock(limits), first=small.lossy)
    lossy, nodes = max(small.lossy, large.lossy), small.nodes + large.nodes
    return replace(large, lossy=lossy, nodes=nodes)


def _most_s(clock: Clock) -> float:
    """Return the most seconds of a search: any number if the run has a time limit."""
    return SEARCH_S if math.isinf(clock.left_s) else math.inf


def _by_mip(
    knapsack: Knapsack,
    relaxation: Relaxation,
    chosen: Ints | None,
    clock: Clock,
    rng: np.random.Generator | None,
) -> Ints | None:
    """Return a better choice that HiGHS finds among few items, if the gap leaves many."""
    assert relaxation.duals is not None
    if single_items(knapsack):
        for items, most_s in WINDOWS:
            step = clock.limits(at_most_s=most_s)
            chosen = _in_window(knapsack, relaxation, chosen, items, step, rng)
        return chosen
    usable = np.flatnonzero(usable_items(knapsack))
    losses = losses_of_items(only_items(knapsack, usable), relaxation.duals)
    value = -math.inf if chosen is None else knapsack.value(chosen)
    few = FIRST_CORE * knapsack.num_groups
    if np.count_nonzero(losses <= relaxation.bound - value) <= max(few, LARGE_CORE):
        return chosen
    cheap = np.sort(np.argpartition(losses, few - 1)[:few]) if few < len(losses) else slice(None)
    first = usable[cheap] if chosen is None else np.union1d(usable[cheap], chosen)
    limits = clock.limits(at_most_s=FIRST_CORE_S)
    known = None if chosen is None else np.searchsorted(first, chosen)
    solved = solve_mip(
        only_items(knapsack, first),
        "highs",
        replace(limits, rel_gap=max(FIRST_CORE_GAP, limits.rel_gap)),
        seed_of(rng),
        warm_start=known,
    )
    better = solved.chosen is not None and solved.value > value
    return first[solved.chosen] if better else chosen


def _in_window(
    knapsack: Knapsack,
    relaxation: Relaxation,
    chosen: Ints | None,
    items: int,
    limits: Limits,
    rng: np.random.Generator | None,
) -> Ints | None:
    """Return a better choice that differs from the relaxation's in a few single items only.

    The relaxation takes all items of positive reduced profit; those of the smallest reduced profit
    or loss are the least certain.
    """
    assert relaxation.duals is not None
    value = -math.inf if chosen is None else knapsack.value(chosen)
    reduced = np.where(
        usable_items(knapsack), reduced_profits(knapsack, relaxation.duals), -math.inf
    )
    if np.count_nonzero(np.abs(reduced) <= relaxation.bound - value) <= UNDECIDED:
        return chosen
    undecided = np.zeros(len(reduced), dtype=bool)
    undecided[np.argsort(np.abs(reduced), kind="stable")[:items]] = True
    window = np.flatnonzero(undecided & np.isfinite(reduced))
    taken = np.flatnonzero(~undecided & (reduced > 0))
    left = knapsack.capacity - knapsack.weight[taken].sum(axis=0)
    if np.any(left < 0):
        return chosen
    known = None
    if chosen is not None and np.array_equal(chosen[~undecided[chosen]], taken):
        known = np.searchsorted(window, chosen[undecided[chosen]])
    solved = solve_mip(
        replace(only_items(knapsack, window), owner=np.arange(len(window)), capacity=left),
        "highs",
        limits,
        seed_of(rng),
        warm_start=known,
    )
    if solved.chosen is None or knapsack.value(taken) + solved.value <= value:
        return chosen
    return np.sort(np.concatenate([taken, window[solved.chosen]]))
