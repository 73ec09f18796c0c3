r"""Relaxations of the joint problem, tabulated for every set S of batches that is done.

A *reload* is a miss that is not the first of its node. Between the batches of S and the others the
*live* nodes :math:`L(S)`, used on both sides, are kept or have been dropped, and every dropped one
is a reload. Two relaxations bound the reloads that are still to be decided:

* *bottlenecks*: only the number d of dropped nodes is remembered. After another batch b as many as
  possible of them are still dropped, :math:`c = \min(d, |L(S) \setminus B_b|)`, and at least
  :math:`|L(S \cup b)| - K` are needed, so
  :math:`H(S, d) = \min_b (d' - c) + H(S \cup b, d')` with
  :math:`d' = \max(c, |L(S \cup b)| - K)`;
* *paths*: a slot of the cache between two batches has the price 1/2. A node that is kept from one
  batch to the next then costs 1/2, and one that is kept longer no less than a reload, so only the
  overlaps of consecutive batches count, and their heaviest Hamiltonian path is a dynamic program.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock

#: Batches up to which tables over all sets of them are kept. Tuned: `benchmarks/constants.py`.
MOST_BATCHES = 20

Words = npt.NDArray[np.uint64]


class OutOfTimeError(Exception):
    """The time is up, or the states do not fit into memory."""


class Incidence:
    """Batches and their repeated nodes as bits.

    Attributes
    ----------
    nodes : list of int
        Nodes of at least two batches, in ascending order: the bits.
    batch : array of shape (M, W)
        Repeated nodes of each batch, W words of 64 bits.
    uses : array of shape (N,)
        Batches of each repeated node, a bit each.
    """

    def __init__(self, batches: list[list[int]]):
        count: dict[int, int] = {}
        for nodes in batches:
            for v in nodes:
                count[v] = count.get(v, 0) + 1
        self.nodes: list[int] = sorted(v for v, times in count.items() if times > 1)
        self.num_batches: int = len(batches)
        self.words: int = max(1, -(-len(self.nodes) // 64))
        bit = {v: k for k, v in enumerate(self.nodes)}
        self.batch: npt.NDArray[np.uint64] = np.zeros((len(batches), self.words), dtype=np.uint64)
        self.uses: npt.NDArray[np.uint64] = np.zeros(len(self.nodes), dtype=np.uint64)
        for b, nodes in enumerate(batches):
            for v in nodes:
                if v in bit:
                    k = bit[v]
                    self.batch[b, k // 64] |= np.uint64(1 << k % 64)
                    self.uses[k] |= np.uint64(1 << b)

    @property
    def repeats(self) -> int:
        """Uses of nodes after their first: misses if nothing is ever kept."""
        return int(np.bitwise_count(self.uses).sum()) - len(self.nodes)

    def overlap(self) -> Ints:
        """Return the number of common nodes of each pair of batches, shape (M, M)."""
        common = bits(self.batch[:, None, :] & self.batch[None, :, :])
        np.fill_diagonal(common, 0)
        return common


def bits(words: Words) -> Ints:
    """Return the number of bits in the last axis."""
    counted: Ints = np.bitwise_count(words).sum(axis=-1, dtype=np.int64)
    return counted


class SubsetTables:
    """Tables over all sets of at most `MOST_BATCHES` batches.

    Filling one raises `OutOfTimeError` when the clock has expired.

    Attributes
    ----------
    seen : array of shape (2^M, W)
        Nodes of the batches in a set.
    live : array of shape (2^M,)
        Number of live nodes.
    layers : list of arrays
        The sets of each size.
    """

    capacity: int
    clock: Clock
    incidence: Incidence

    def __init__(self, incidence: Incidence, capacity: int, clock: Clock):
        self.incidence, self.capacity, self.clock = incidence, capacity, clock
        M = incidence.num_batches
        self.full: int = (1 << M) - 1
        self.seen: npt.NDArray[np.uint64] = np.zeros((1 << M, incidence.words), dtype=np.uint64)
        for b in range(M):
            self.seen[1 << b : 2 << b] = self.seen[: 1 << b] | incidence.batch[b]
        self.live: npt.NDArray[np.int16] = bits(self.seen & self.seen[::-1]).astype(np.int16)
        size = np.bitwise_count(np.arange(1 << M, dtype=np.uint32))
        by_size = np.argsort(size, kind="stable")
        self.layers: list[Ints] = np.split(
            by_size, np.cumsum(np.bincount(size, minlength=M + 1))[:-1]
        )

    def live_nodes(self, sets: Ints) -> Words:
        """Return the live nodes of sets, shape (n, W)."""
        found: Words = self.seen[sets] & self.seen[self.full ^ sets]
        return found

    def bottlenecks(self, budget: int) -> npt.NDArray[np.int16]:
        """Return H(S, d) for d up to a budget, shape (2^M, budget + 2).

        Values beyond the budget are budget + 1; the last column, of more dropped nodes, is 0. Of
        sets with too many live nodes nothing is computed.
        """
        M, batch = self.incidence.num_batches, self.incidence.batch
        most = np.int16(budget + 1)
        table = np.full((self.full + 1, budget + 2), most, dtype=np.int16)
        table[self.full, : budget + 1] = 0
        dropped = np.arange(budget + 1, dtype=np.int16)
        for every in reversed(self.layers[:-1]):
            self._check_time()
            layer = every[self.live[every] - self.capacity <= budget]
            alive = self.live_nodes(layer)
            for b in range(M):
                here = layer >> b & 1 == 0
                sets = layer[here]
                after = sets | 1 << b
                stay = bits(alive[here] & ~batch[b]).astype(np.int16)
                carry = np.minimum(dropped, stay[:, None])
                wanted = (self.live[after] - self.capacity).astype(np.int16)
                then = np.minimum(np.maximum(carry, wanted[:, None]), most)
                cost = then - carry + table[after[:, None], then]
                best = table[sets, : budget + 1]
                table[sets, : budget + 1] = np.minimum(np.minimum(best, cost), most)
        table[:, budget + 1] = 0
        return table

    def heaviest_paths(self, overlap: Ints) -> npt.NDArray[np.int16]:
        """Return the heaviest path from each batch through all that are not in a set.

        Returns
        -------
        array of shape (2^M, M)
            [S, b]: from b, which is in S, through all batches outside of S.
        """
        M = self.incidence.num_batches
        table = np.full((self.full + 1, M), np.int16(-1), dtype=np.int16)
        table[self.full] = 0
        weight = overlap.astype(np.int16)
        for layer in reversed(self.layers[:-1]):
            self._check_time()
            best = np.full((len(layer), M), np.int16(-1))
            for b in range(M):
                here = layer >> b & 1 == 0
                onward = table[layer[here] | 1 << b, b]
                best[here] = np.maximum(best[here], onward[:, None] + weight[:, b])
            table[layer] = best
        return table

    def _check_time(self) -> None:
        if self.clock.expired:
            raise OutOfTimeError
