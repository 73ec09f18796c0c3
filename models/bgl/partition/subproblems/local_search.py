"""Local search on arrays: moves, and swaps of nodes of one kind, with a short memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gadgetopt.numbers.arrays import Bools, Ints
from gadgetopt.search.clock import Clock

from ..instance import BglPartitionInstance
from ..requests import PairWeights

#: Candidates of a swap in each of its two parts. Tuned: `benchmarks/constants.py`.
MOST_CANDIDATES = 6
#: Nodes up to which weights are kept in a full matrix. Tuned: `benchmarks/constants.py`.
MOST_DENSE = 1500
#: Steps without improvement after which a search ends, per square root of the nodes with weight.
#: Tuned: `benchmarks/constants.py`.
PATIENCE = 8


@dataclass(frozen=True)
class Weighted:
    """Weights, kinds and caps of a local search.

    Attributes
    ----------
    matrix : sparse array of int64, shape (nodes, nodes)
        Symmetric, its indices in ascending order.
    trained : ndarray of bool, shape (nodes,)
    parts, node_cap, train_cap : int
    """

    matrix: csr_array
    trained: Bools
    parts: int
    node_cap: int
    train_cap: int

    @classmethod
    def of(cls, instance: BglPartitionInstance, weights: PairWeights | None = None) -> Weighted:
        """Return those of an instance, with its pair weights or others."""
        weights = weights or instance.pair_weights
        n = instance.num_nodes
        a, b, w = weights.first, weights.second, weights.scaled
        matrix = csr_array(
            (np.concatenate([w, w]), (np.concatenate([a, b]), np.concatenate([b, a]))), shape=(n, n)
        )
        matrix.sort_indices()
        trained = np.zeros(n, dtype=bool)
        trained[list(instance.train_nodes)] = True
        return cls(matrix, trained, instance.used_parts, instance.node_cap, instance.train_cap)

    def pull(self, part: Ints) -> Ints:
        """Return the weight of every node to every part, shape (nodes, parts)."""
        n = len(part)
        one_hot = csr_array((np.ones(n, dtype=np.int64), (np.arange(n), part)), (n, self.parts))
        pulled: Ints = (self.matrix @ one_hot).toarray()
        return pulled

    def cut(self, part: Ints) -> int:
        """Return the weight that a partition cuts."""
        pull = self.pull(part)
        return (int(self.matrix.sum()) - int(pull[np.arange(len(part)), part].sum())) // 2


def improve(
    weighted: Weighted, part: Ints, clock: Clock, rng: np.random.Generator, *, memory: bool = True
) -> Ints:
    """Return a partition that moves and swaps have made cheaper; caps that hold keep holding.

    Each step takes the best move or swap of nodes that have not just moved. With a `memory` steps
    that make it dearer are taken too, for a while; without one the search ends at the first local
    optimum.
    """
    search = _Search(weighted, part.copy())
    best, best_gain = part.copy(), 0
    gain, idle, step = 0, 0, 0
    patience = PATIENCE * round(np.sqrt(max(1, weighted.matrix.shape[0])))
    while not clock.expired and idle < (patience if memory else 1):
        found = search.best_change(step)
        if found is None or (found[0] <= 0 and not memory):
            break
        gain += found[0]
        search.apply(found[1], step, int(rng.integers(3, 10)))
        idle += 1
        step += 1
        if gain > best_gain:
            best, best_gain, idle = search.part.copy(), gain, 0
    return best


Change = list[tuple[int, int]]


class _Search:
    """A partition, the weight of every node to every part, and when nodes may move again."""

    def __init__(self, weighted: Weighted, part: Ints):
        self.w, self.part = weighted, part
        self.pull = weighted.pull(part)
        small = len(part) <= MOST_DENSE
        self.dense: Ints | None = weighted.matrix.toarray() if small else None
        self.free_at = np.zeros(len(part), dtype=np.int64)
        self.load = np.bincount(part, minlength=weighted.parts)
        self.train_load = np.bincount(part[weighted.trained], minlength=weighted.parts)
        #: Moving nodes without weight changes nothing.
        heavy = np.diff(weighted.matrix.indptr) > 0
        self.kinds = [np.flatnonzero(heavy & weighted.trained), np.flatnonzero(~weighted.trained)]

    def best_change(self, step: int) -> tuple[int, Change] | None:
        """Return the largest gain of a move or swap, and the change."""
        best: tuple[int, Change] | None = None
        for kind, nodes in enumerate(self.kinds):
            free = nodes[self.free_at[nodes] <= step]
            if not len(free):
                continue
            own = self.part[free]
            gains = self.pull[free] - self.pull[free, own][:, None]
            gains[np.arange(len(free)), own] = np.iinfo(np.int64).min // 4
            room = self.load < self.w.node_cap
            if kind == 0:
                room = room & (self.train_load < self.w.train_cap)
            if room.any():
                masked = np.where(room, gains, np.iinfo(np.int64).min // 4)
                at = int(np.argmax(masked))
                v, i = divmod(at, self.w.parts)
                if best is None or masked[v, i] > best[0]:
                    best = int(masked[v, i]), [(int(free[v]), i)]
            found = self._best_swap(free, own, gains, best[0] if best else None)
            best = found or best
        return best

    def _best_swap(
        self, free: Ints, own: Ints, gains: Ints, least: int | None
    ) -> tuple[int, Change] | None:
        k = self.w.parts
        top: dict[tuple[int, int], Ints] = {}
        for i in range(k):
            here = np.flatnonzero(own == i)
            for j in range(k):
                if i != j and len(here):
                    some = min(MOST_CANDIDATES, len(here))
                    chosen = np.argpartition(-gains[here, j], some - 1)[:some]
                    top[i, j] = here[chosen]
        best: tuple[int, Change] | None = None
        for i in range(k):
            for j in range(i + 1, k):
                if (i, j) not in top or (j, i) not in top:
                    continue
                a, b = top[i, j], top[j, i]
                there, back = gains[a, j], gains[b, i]
                if least is not None and int(there.max()) + int(back.max()) <= least:
                    continue
                between = self._between(free[a], free[b])
                both = there[:, None] + back[None, :] - 2 * between
                at = int(np.argmax(both))
                x, y = divmod(at, len(b))
                if least is None or both[x, y] > least:
                    least = int(both[x, y])
                    best = least, [(int(free[a[x]]), j), (int(free[b[y]]), i)]
        return best

    def _between(self, a: Ints, b: Ints) -> Ints:
        if self.dense is not None:
            return self.dense[np.ix_(a, b)]
        matrix = self.w.matrix
        between = np.zeros((len(a), len(b)), dtype=np.int64)
        for row, v in enumerate(a.tolist()):
            begin, end = matrix.indptr[v], matrix.indptr[v + 1]
            near = matrix.indices[begin:end]
            if len(near):
                at = np.minimum(np.searchsorted(near, b), len(near) - 1)
                between[row] = np.where(near[at] == b, matrix.data[begin + at], 0)
        return between

    def apply(self, change: Change, step: int, tenure: int) -> None:
        """Give nodes new parts; they stay there for `tenure` steps."""
        matrix = self.w.matrix
        for v, i in change:
            row = slice(matrix.indptr[v], matrix.indptr[v + 1])
            near, weight = matrix.indices[row], matrix.data[row]
            old = self.part[v]
            self.pull[near, old] -= weight
            self.pull[near, i] += weight
            self.load[old] -= 1
            self.load[i] += 1
            if self.w.trained[v]:
                self.train_load[old] -= 1
                self.train_load[i] += 1
            self.part[v] = i
            self.free_at[v] = step + tenure
