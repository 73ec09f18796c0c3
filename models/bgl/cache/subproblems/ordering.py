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
    """Return a Hamiltonian path: the nearest neighbour from one end, improved by 2-opt."""
    count = len(weight)
    path, left = [first], set(range(count)) - {first}
    while left:
        row = weight[path[-1]]
        path.append(max(left, key=lambda k: (row[k], -k)))
        left.remove(path[-1])
    order = np.array(path)
    improved = True
    while improved:
        improved = False
        for i in range(count - 1):
            # Reversing order[i + 1 .. j] replaces the links (i, i + 1) and (j, j + 1).
            j = np.arange(i + 1, count)
            link = weight[order[:-1], order[1:]]
            old = link[i] + np.append(link[i + 1 :], 0)
            new = weight[order[i], order[j]]
            new = new + np.append(weight[order[i + 1], order[i + 2 :]], 0)
            best = int(np.argmax(new - old))
            if new[best] > old[best]:
                order[i + 1 : i + 2 + best] = order[i + 1 : i + 2 + best][::-1].copy()
                improved = True
    return order.tolist()


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
