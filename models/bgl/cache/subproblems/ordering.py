"""Orders of fixed mini-batches: heavy paths through their overlaps, and moves that save reloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from scipy.sparse import csr_array

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock

from .intervals import intervals_of
from .sweep import keep_earliest_ends

#: Places of a path that are looked at together for a segment to be reversed, after one was and at
#: most. Tuned: `benchmarks/constants.py`.
_PLACES, _MOST_PLACES = 32, 256


def overlaps(batches: Sequence[Sequence[int]]) -> Ints:
    """Return the number of common nodes of each pair of batches, 0 on the diagonal."""
    number = {v: k for k, v in enumerate(sorted({v for nodes in batches for v in nodes}))}
    rows = np.repeat(np.arange(len(batches)), [len(nodes) for nodes in batches])
    columns = np.fromiter((number[v] for nodes in batches for v in nodes), np.int64, len(rows))
    shape = (len(batches), max(len(number), 1))
    matrix = csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=shape)
    common: Ints = np.asarray((matrix @ matrix.T).todense(), dtype=np.int64)
    np.fill_diagonal(common, 0)
    return common


def heavy_path(weight: Ints, first: int) -> list[int]:
    """Return one of `heavy_paths`."""
    return next(heavy_paths(weight, [first]))


def heavy_paths(weight: Ints, firsts: Iterable[int]) -> Iterator[list[int]]:
    """Yield Hamiltonian paths: the nearest neighbour from each end, improved by 2-opt.

    Only pairs of positive weight gain, so that a sparse matrix takes little time. The weight is
    symmetric.
    """
    count = len(weight)
    near = [np.flatnonzero(row) for row in weight]
    # The end of the path is followed by one that shares nothing.
    weight = np.pad(weight, (0, 1))
    for first in firsts:
        path = _Path(weight, near, np.append(_nearest(weight, near, first), count))
        path.improve()
        yield path.order[:-1].tolist()


class _Path:
    """A path that reversals of segments make heavier.

    Attributes
    ----------
    order, place : array of int
        The nodes, the one that shares nothing last, and where each is.
    link : array of int
        Weight of the link from each place to the next.
    """

    def __init__(self, weight: Ints, near: Sequence[Ints], order: Ints):
        self.weight, self.near = weight, near
        self.order: Ints = order
        self.place: Ints = np.argsort(order)
        self.link: Ints = np.append(weight[order[:-1], order[1:]], 0)

    def improve(self) -> None:
        """Reverse the best segment from each place, until none gains."""
        last, improved = len(self.near) - 1, True
        while improved:
            improved = False
            i, many = 0, _PLACES
            while i < last:
                end = min(i + many, last)
                found = self.first_gain(i, end)
                if found is None:
                    i, many = end, min(2 * many, _MOST_PLACES)
                    continue
                self.reverse_from(found)
                improved = True
                i, many = found + 1, _PLACES

    def first_gain(self, begin: int, end: int) -> int | None:
        """Return the first of some places from which reversing a segment gains; None if none."""
        near = [self.near[v] for v in self.order[begin : end + 1].tolist()]
        here = np.repeat(np.arange(begin, end + 1), [len(nodes) for nodes in near])
        there = self.place[np.concatenate(near)]
        # A pair may become the link (i, j) or (i + 1, j + 1).
        i, j = np.concatenate((here, here - 1)), np.concatenate((there, there - 1))
        allowed = (j > i + 1) & (i >= begin) & (i < end)
        i, j = i[allowed], j[allowed]
        gains = i[self._gain(i, j) > self.link[i]]
        return int(gains.min()) if len(gains) else None

    def reverse_from(self, i: int) -> None:
        """Reverse the segment after a place that gains most, the shortest of equal ones."""
        order, place, link = self.order, self.place, self.link
        near = self.near[order[i]], self.near[order[i + 1]]
        j = np.concatenate((place[near[0]], place[near[1]] - 1))
        j = j[j > i + 1]
        gain = self._gain(i, j)
        k = int(j[gain == gain.max()].min())
        order[i + 1 : k + 1] = order[i + 1 : k + 1][::-1].copy()
        place[order[i + 1 : k + 1]] = np.arange(i + 1, k + 1)
        link[i + 1 : k] = link[i + 1 : k][::-1].copy()
        link[[i, k]] = self.weight[order[[i, k]], order[[i + 1, k + 1]]]

    def _gain(self, i: Ints | int, j: Ints) -> Ints:
        """Return what reversing order[i + 1 .. j] gains, before the link (i, i + 1) is lost.

        It replaces the links (i, i + 1) and (j, j + 1) by (i, j) and (i + 1, j + 1).
        """
        weight, order = self.weight, self.order
        both = weight[order[i], order[j]] + weight[order[i + 1], order[j + 1]]
        return np.asarray(both - self.link[j])


def _nearest(weight: Ints, near: Sequence[Ints], first: int) -> list[int]:
    """Return the path that goes on to the heaviest neighbour left, of equal ones the first."""
    left = np.ones(len(near), dtype=bool)
    path, lowest = [first], 0
    left[first] = False
    while len(path) < len(near):
        here = path[-1]
        open_near = near[here][left[near[here]]]
        if len(open_near):
            path.append(int(open_near[np.argmax(weight[here, open_near])]))
        else:
            while not left[lowest]:
                lowest += 1
            path.append(lowest)
        left[path[-1]] = False
    return path


def reloads_of(batches: Sequence[Sequence[int]], order: Sequence[int], capacity: int) -> int:
    """Return the misses after the first of each node, if the cache is used as well as possible."""
    intervals = intervals_of([batches[k] for k in order])
    return len(intervals.node) - int(keep_earliest_ends(intervals, capacity).sum())


def improve_order(
    order: list[int],
    cost: Callable[[list[int]], int],
    enough: int,
    rounds: int,
    rng: np.random.Generator,
    clock: Clock,
    told: Callable[[list[int]], None] = lambda _: None,
) -> tuple[list[int], int]:
    """Return an order after moves of one batch and reversals of segments that cost no more.

    Each round tries one random move; it ends early when `enough` is met or time is up. `told` is
    told of each order that costs less.
    """
    value, count = cost(order), len(order)
    for _ in range(rounds):
        if value <= enough or clock.expired or count < 2:
            break
        i, j = sorted(rng.choice(count, size=2, replace=False).tolist())
        tried = list(order)
        kind = int(rng.integers(3))
        if kind == 0:
            tried[i : j + 1] = tried[i : j + 1][::-1]
        elif kind == 1:
            tried.insert(j, tried.pop(i))
        else:
            tried.insert(i, tried.pop(j))
        found = cost(tried)
        if found <= value:
            better = found < value
            order, value = tried, found
            if better:
                told(order)
    return order, value
