"""Orders of fixed mini-batches: heavy paths through their overlaps, and moves that save reloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.sparse import csr_array

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock

from .intervals import intervals_of
from .sweep import keep_earliest_ends


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
    """Return a Hamiltonian path: the nearest neighbour from one end, improved by 2-opt.

    Only pairs of positive weight gain, so that a sparse matrix takes little time.
    """
    count = len(weight)
    near = [np.flatnonzero(row) for row in weight]
    # The end of the path is followed by one that shares nothing.
    weight = np.pad(weight, (0, 1))
    order = np.append(_nearest(weight, near, first), count)
    place = np.argsort(order)
    link = np.append(weight[order[:-1], order[1:]], 0)
    improved = True
    while improved:
        improved = False
        for i in range(count - 1):
            # Reversing order[i + 1 .. j] replaces the links (i, i + 1) and (j, j + 1).
            a, b = order[i], order[i + 1]
            j = np.concatenate((place[near[a]], place[near[b]] - 1))
            j = j[j > i + 1]
            if not len(j):
                continue
            gain = weight[a, order[j]] + weight[b, order[j + 1]] - link[j]
            most = gain.max()
            if most > link[i]:
                k = j[gain == most].min()
                order[i + 1 : k + 1] = order[i + 1 : k + 1][::-1].copy()
                place[order[i + 1 : k + 1]] = np.arange(i + 1, k + 1)
                link[i : k + 1] = weight[order[i : k + 1], order[i + 1 : k + 2]]
                improved = True
    return order[:-1].tolist()


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
