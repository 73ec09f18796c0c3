r"""Exact search for single items: two halves of the core, matched by a tree of near points.

At prices :math:`\lambda` the relaxation takes the items of positive reduced profit. A choice flips
some of them, and is worth

.. math::
    L(\lambda) - \sum_{\text{flipped}} |\pi_c - \lambda^\top a_c| - \lambda^\top s

with s the capacity left. Of a choice within a gap :math:`\Delta` of the bound, the flips of every
half of the items lose no more than :math:`\Delta`, and those of one half no more than
:math:`\Delta / 2`. So all sets of flips of both halves are listed, each a point: its priced change
of the load of every row, and its loss. Two sets match if the load of one is just below what the
other leaves: what they lose together is the distance of two points, the sum of absolute
differences, and a k-d tree finds all within the gap. Each half has of the order of the square root
of the sets of the whole, so that gaps close that depth-first search cannot; where rows are
many, or the gap is large for the number of items, lists become too long.

All numbers are whole and all sums exact in doubles, those of the tree included.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial import cKDTree

from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.pieces.knapsack.cardinality import (
    Search,
    first_gap,
    least_improvement,
    thresholds,
)
from gadgetopt.pieces.knapsack.integral import Integral, decimal_unit, integral
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import Relaxation, only_items, usable_items
from gadgetopt.search.clock import Clock

#: Most numbers in the list of a half.
MOST_NUMBERS = MOST_CELLS // 4
#: Most pairs of sets looked at for one threshold. Tuned: `benchmarks/constants.py`.
MOST_PAIRS = 2_000_000
#: Sets whose neighbours are looked for together. Tuned: `benchmarks/constants.py`.
CHUNK = 2048


class TooMany(Exception):
    """The lists of the halves or the pairs to look at are too long."""


@dataclass(frozen=True)
class _Half:
    """Sets of flipped items of a half; each is another one and one more item.

    Attributes
    ----------
    loss : ndarray of float, shape (sets,)
    load : ndarray of float, shape (sets, rows)
        Change of the load.
    parent, item : ndarray of int, shape (sets,)
        -1 for the empty set, the first one.
    """

    loss: Floats
    load: Floats
    parent: Ints
    item: Ints

    def items_of(self, chosen: int) -> list[int]:
        """Return the flipped items of a set."""
        items = []
        while self.parent[chosen] >= 0:
            items.append(int(self.item[chosen]))
            chosen = int(self.parent[chosen])
        return items


@dataclass(frozen=True)
class _Flips:
    """The relaxation's choice in whole numbers, and what it costs to flip each item.

    Attributes
    ----------
    whole : Integral
    prices : ndarray of float, shape (rows,)
    taken : ndarray of bool, shape (items,)
    loss : ndarray of float, shape (items,)
    load : ndarray of float, shape (items, rows)
        Change of the load by a flip.
    left : ndarray of float, shape (rows,)
        Capacity left by the relaxation's choice, of any sign.
    bound : float
    """

    whole: Integral
    prices: Floats
    taken: Bools
    loss: Floats
    load: Floats
    left: Floats
    bound: float


@dataclass
class _Pair:
    """The best pair of sets found so far: what it loses, and the items flipped."""

    lost: float = math.inf
    flipped: list[int] = field(default_factory=list)


def solve_by_halves(
    knapsack: Knapsack, relaxation: Relaxation, chosen: Ints | None, clock: Clock
) -> CoreResult:
    """Search the choices of single items that can beat an incumbent.

    Parameters
    ----------
    knapsack : Knapsack
        Every item a group of its own that may be left out.
    relaxation : Relaxation
        Solved to optimality.
    chosen : ndarray of int or None
        The incumbent.
    clock : Clock

    Returns
    -------
    CoreResult
        Optimal, or with the bound of the last threshold finished and `limit_hit` "time_s", or
        "nodes" if the next lists are too long.

    Raises
    ------
    ModelRefused
        If weights have more than six decimals or numbers are too large for exact sums.
    """
    assert relaxation.duals is not None
    kept = np.flatnonzero(usable_items(knapsack))
    usable = only_items(knapsack, kept)
    flips = _flips(usable, relaxation.duals)
    unit = decimal_unit(knapsack.profit)
    value = -math.inf if chosen is None else knapsack.value(chosen)
    bound = relaxation.bound if unit is None else math.floor(relaxation.bound * unit) / unit
    search = Search(unit, least_improvement(knapsack, unit), chosen, value, bound)
    limit_hit = None
    try:
        for threshold in thresholds(search, knapsack, first_gap(usable, relaxation.duals)):
            _pass_over(flips, kept, knapsack, search, threshold, clock)
    except TimeoutError:
        limit_hit = "time_s"
    except TooMany:
        limit_hit = "nodes"
    except KeyboardInterrupt:
        limit_hit = "interrupted"
    return CoreResult(
        search.best,
        search.value,
        float(max(search.bound, search.value)),
        "all pairs of sets of two halves of the items within the gap, in exact arithmetic",
        relaxation.duals,
        relaxation.bound,
        limit_hit,
        {"sets": search.nodes, "largest_core": search.largest_core},
    )


def _flips(usable: Knapsack, duals: Floats) -> _Flips:
    whole = integral(usable, duals)
    prices = whole.prices(duals)
    reduced = whole.profit - whole.weight @ prices
    taken = reduced > 0
    return _Flips(
        whole,
        prices,
        taken,
        np.abs(reduced),
        np.where(taken[:, None], -whole.weight, whole.weight),
        whole.capacity - whole.weight[taken].sum(axis=0),
        float(prices @ whole.capacity + reduced[taken].sum()),
    )


def _pass_over(
    flips: _Flips,
    kept: Ints,
    knapsack: Knapsack,
    search: Search,
    threshold: float,
    clock: Clock,
) -> None:
    """Search all choices down to a threshold, and record the best one and the bound that result.

    Raises
    ------
    TimeoutError, TooMany
    """
    whole, unit = flips.whole, search.unit
    least = max(threshold, search.value + search.improvement)
    # Profits were rounded up, so that a true profit of this size is reached here too.
    need = float(math.ceil(least * whole.scale))
    if whole.whole_profits:
        need = math.ceil(round(least * (whole.scale / whole.step), 6)) * whole.step
    gap = flips.bound - need
    core = np.flatnonzero(flips.loss <= gap)
    core = core[np.argsort(flips.loss[core], kind="stable")]
    search.largest_core = max(search.largest_core, len(core))
    if gap >= 0:
        pair = _Pair()
        try:
            halves = [_half(flips, part, gap, clock) for part in (core[::2], core[1::2])]
            search.nodes += sum(len(half.loss) for half in halves)
            _best_pair(flips, halves[0], halves[1], gap, clock, pair)
        finally:
            taken = flips.taken.copy()
            taken[pair.flipped] ^= True
            items = kept[taken]
            if math.isfinite(pair.lost) and knapsack.value(items) > search.value:
                search.best, search.value = items, knapsack.value(items)
    # Nothing is left at `least` or above but what was found; whole profits are a unit lower.
    if unit is None:
        # Choices within the gap differ in the core only, and so does the rounding of their profits.
        search.rounding = max(search.rounding, (len(core) + 1) / whole.scale)
    else:
        least = (math.ceil(round(least * unit, 6)) - 1) / unit
    search.bound = min(search.bound, max(least, search.value) + search.rounding)


def _half(flips: _Flips, items: Ints, gap: float, clock: Clock) -> _Half:
    """Return all sets of some items, by rising loss, that lose no more than the gap."""
    rows = len(flips.prices)
    most = MOST_NUMBERS // (rows + 3)
    half = _Half(
        np.zeros(1), np.zeros((1, rows)), np.array([-1], np.int64), np.array([-1], np.int64)
    )
    for item in items.tolist():
        if clock.expired:
            raise TimeoutError
        old = np.flatnonzero(half.loss <= gap - flips.loss[item])
        if len(old) + len(half.loss) > most:
            raise TooMany
        half = _Half(
            np.concatenate([half.loss, half.loss[old] + flips.loss[item]]),
            np.concatenate([half.load, half.load[old] + flips.load[item]]),
            np.concatenate([half.parent, old]),
            np.concatenate([half.item, np.full(len(old), item)]),
        )
    return half


def _best_pair(
    flips: _Flips, one: _Half, other: _Half, gap: float, clock: Clock, best: _Pair
) -> None:
    """Find the pair of sets that fits and loses least, at most the gap."""
    pairs = 0
    for near, far in ((one, other), (other, one)):
        points = np.column_stack([far.load * flips.prices, far.loss])
        tree = cKDTree(points, compact_nodes=False, balanced_tree=False)
        # One of the two sets loses no more than half the gap.
        some = np.flatnonzero(near.loss <= gap / 2)
        some = some[np.argsort(near.loss[some], kind="stable")]
        for first in range(0, len(some), CHUNK):
            if clock.expired:
                raise TimeoutError
            asked = some[first : first + CHUNK]
            radius = min(gap, best.lost) - near.loss[asked]
            asked, radius = asked[radius >= 0], radius[radius >= 0]
            places = np.column_stack(
                [(flips.left - near.load[asked]) * flips.prices, np.zeros(len(asked))]
            )
            for a, b in _neighbours(tree, places, radius, asked):
                pairs += len(a)
                if pairs > MOST_PAIRS:
                    raise TooMany
                left = flips.left - near.load[a] - far.load[b]
                lost = near.loss[a] + far.loss[b] + left @ flips.prices
                lost = np.where((left >= 0).all(axis=1), lost, math.inf)
                k = int(lost.argmin())
                if lost[k] < best.lost:
                    best.lost = float(lost[k])
                    best.flipped = near.items_of(int(a[k])) + far.items_of(int(b[k]))


def _neighbours(
    tree: cKDTree, places: Floats, radius: Floats, asked: Ints
) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs of a set asked and a set of the tree within its radius, some at a time."""
    if not len(asked):
        return
    counts = tree.query_ball_point(places, radius, p=1, return_length=True)
    if counts.sum() > MOST_PAIRS:
        raise TooMany
    hit = np.flatnonzero(counts)
    if len(hit):
        found = tree.query_ball_point(places[hit], radius[hit], p=1, return_sorted=True)
        yield np.repeat(asked[hit], counts[hit]), np.concatenate(found).astype(np.int64)
