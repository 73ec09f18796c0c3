r"""The offline optimum of unit weights: Belady's sweep, and the dual that proves it.

At every boundary the intervals that start are added and the K of earliest end kept. Intervals form
an interval matrix, so (5) has integral optima on both sides; by Greene and Kleitman's theorem on
perfect graphs,

.. math::
    \max \#\{\text{kept}\} = \min_I\ K |I| + \#\{r : [s_r, e_r) \cap I = \emptyset\}

over sets I of boundaries: those of price 1.
"""

from __future__ import annotations

from heapq import heapify, heappush, heappushpop

import numpy as np

from gadgetopt.numbers.arrays import Bools, Ints

from .intervals import Intervals

#: Boundaries up to which the prices are computed, in the square of their number.
#: Tuned: `benchmarks/constants.py`.
MOST_BOUNDARIES = 20_000

#: Measured cost of a boundary, and of a held interval at a boundary, in units of one interval on
#: the heap. Tuned: `benchmarks/constants.py`.
_BOUNDARY, _HELD = 25.0, 0.015


def keep_earliest_ends(intervals: Intervals, capacity: int) -> Bools:
    """Return which intervals Belady's rule keeps.

    Two ways give as many: an array of what is held, partitioned at every boundary, and a heap, from
    which the latest end is taken where too many are held. The array is faster where thousands of
    intervals start at one boundary.

    Returns
    -------
    array of bool, shape (R,)
    """
    count = len(intervals.node)
    if capacity == 0 or count == 0:
        return np.zeros(count, dtype=bool)
    held = min(capacity, count)
    if intervals.boundaries * (_BOUNDARY + _HELD * held) < count:
        return _keep_in_array(intervals, capacity)
    return _keep_on_heap(intervals, capacity)


def _keep_in_array(intervals: Intervals, capacity: int) -> Bools:
    by_start, boundaries = np.argsort(intervals.start), np.arange(intervals.boundaries + 1)
    first = np.searchsorted(intervals.start[by_start], boundaries)
    last = _ended_by(intervals, boundaries)
    kept = np.ones(len(by_start), dtype=bool)
    held = np.empty(0, dtype=np.int64)
    for i in range(intervals.boundaries):
        held = np.concatenate([held[held >= last[i]], by_start[first[i] : first[i + 1]]])
        if len(held) > capacity:
            held.partition(capacity)
            kept[held[capacity:]] = False
            held = held[:capacity]
    return kept


def _keep_on_heap(intervals: Intervals, capacity: int) -> Bools:
    """Return the same from a heap of what was kept, the latest end on top.

    What has ended stays below what has not. It is counted where room is wanted, and removed where
    the heap has grown to twice the capacity.
    """
    by_start = np.argsort(intervals.start)
    ended = _ended_by(intervals, intervals.start[by_start])
    alive = bytearray(b"\x01") * len(by_start)  # kept so far
    heap: list[int] = []
    room, done = capacity, 0
    most = 2 * capacity + 1000
    for key, gone in zip((-by_start).tolist(), ended.tolist(), strict=True):
        if not room and gone > done:
            room = alive.count(1, done, gone)
            done = gone
        if room:
            room -= 1
            heappush(heap, key)
            if len(heap) > most:
                heap = [held for held in heap if held <= -done]
                heapify(heap)
        else:
            alive[-heappushpop(heap, key)] = 0
    return np.frombuffer(alive, dtype=np.uint8).astype(bool)


def _ended_by(intervals: Intervals, boundary: Ints) -> Ints:
    """Return how many intervals do not cover a boundary any more: those of earlier numbers."""
    ends = np.bincount(intervals.end, minlength=intervals.boundaries + 1)
    return np.cumsum(ends)[boundary]


def unit_prices(intervals: Intervals, capacity: int) -> list[int] | None:
    """Return boundaries of price 1 that prove the sweep optimal; None if there are too many.

    A shortest path over boundaries: the next one priced after i being j, K is paid and 1 for every
    interval strictly between. O(M^2 + R).
    """
    count, capacity = intervals.boundaries, min(capacity, len(intervals.node))
    if count > MOST_BOUNDARIES:
        return None
    # cost[i]: the least cost with boundary i - 1 priced last (0: none), and of the intervals that
    # lie strictly after it and have ended.
    cost = np.zeros(count + 1, dtype=np.int64)
    reached = np.zeros(count + 1, dtype=np.int64)
    origin = np.zeros(count + 2, dtype=np.int64)
    end_at = np.searchsorted(intervals.end, np.arange(count + 2))
    for j in range(count + 1):
        # Intervals that end at batch j cover boundaries up to j - 1 and start after boundary i - 1.
        starts = intervals.start[end_at[j] : end_at[j + 1]]
        if len(starts):
            after = np.bincount(starts, minlength=count)[:count]
            reached[:j] += np.cumsum(after[::-1])[::-1][:j]
        if j < count:
            best = int(np.argmin(cost[: j + 1] + reached[: j + 1]))
            origin[j + 1] = best
            cost[j + 1] = cost[best] + reached[best] + capacity
    at = int(np.argmin(cost + reached))
    chosen = []
    while at > 0:
        chosen.append(at - 1)
        at = int(origin[at])
    return chosen[::-1]
