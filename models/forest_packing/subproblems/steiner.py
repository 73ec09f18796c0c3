"""Cheapest Steiner out-trees from every worker (Dreyfus and Wagner).

Pricing of A1 for aggregation in the network. Where switches copy and sum, a tree may branch in
them, and a cheapest tree is a Steiner tree. The dynamic program over sets of workers takes O(3^N
n), so it is for N <= 10.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.sparse import csgraph, csr_array

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints

from ..network import Network
from ..packing import Route

#: Most workers for which Steiner trees are computed. Tuned: `benchmarks/constants.py`.
MOST_WORKERS = 10


class SteinerTrees:
    r"""Cheapest out-trees that reach all workers, over any switches.

    With :math:`D_v(X)` the cost of a cheapest tree from v to the workers X,

    .. math:: D_v(X) = \min_u \Big(d(v, u) +
              \min_{\emptyset \ne Y \subset X} D_u(Y) + D_u(X \setminus Y)\Big).

    Raises
    ------
    ModelRefused
        If there are more than ten workers.
    """

    def __init__(self, network: Network):
        self._workers = network.num_workers
        if self._workers > MOST_WORKERS:
            raise ModelRefused(
                f"cheapest trees that branch in switches are computed for up to {MOST_WORKERS} "
                f"workers, not for {self._workers}"
            )
        self._n = network.num_nodes
        self._everyone = (1 << self._workers) - 1
        self._subsets = sorted(range(1, 1 << self._workers), key=int.bit_count)
        self._halves = {s: _halves(s) for s in self._subsets}
        self._cost = np.full((1 << self._workers, self._n), np.inf)
        self._branch_node = np.zeros((1 << self._workers, self._n), dtype=np.int64)
        self._branch_half = np.zeros((1 << self._workers, self._n), dtype=np.int64)
        self._before: Ints

    def price(self, tails: Ints, heads: Ints, prices: Floats) -> Floats:
        """Return the cost of a cheapest out-tree from each worker.

        Parameters
        ----------
        tails, heads : ndarray of int, shape (arcs,)
            Swapped, they give the in-trees backwards.
        prices : ndarray, shape (arcs,)

        Returns
        -------
        ndarray, shape (N,)
            Infinite where a worker does not reach all others.
        """
        graph = csr_array((prices, (tails, heads)), shape=(self._n, self._n))
        path, self._before = csgraph.dijkstra(graph, return_predecessors=True)
        for subset in self._subsets:
            halves = self._halves[subset]
            if len(halves):
                joined = self._cost[halves] + self._cost[subset ^ halves]
                half = joined.argmin(axis=0)
                self._branch_half[subset] = halves[half]
                split = joined[half, np.arange(self._n)]
            else:
                split = np.full(self._n, np.inf)
                split[subset.bit_length() - 1] = 0.0
            through = path + split[None, :]
            self._branch_node[subset] = through.argmin(axis=1)
            self._cost[subset] = through[np.arange(self._n), self._branch_node[subset]]
        return np.array([self._cost[self._everyone ^ (1 << r), r] for r in range(self._workers)])

    def routes(self, root: int) -> list[Route]:
        """Return the arcs (parent, child) of the cheapest out-tree from `root`."""
        arcs: set[tuple[int, int]] = set()
        self._collect(self._everyone ^ (1 << root), root, arcs)
        return _arborescence(root, arcs, self._workers)

    def _collect(self, subset: int, v: int, arcs: set[tuple[int, int]]) -> None:
        if not subset:
            return
        branch = int(self._branch_node[subset, v])
        node = branch
        while node != v:
            arcs.add((int(self._before[v, node]), node))
            node = int(self._before[v, node])
        if subset & (subset - 1):
            half = int(self._branch_half[subset, branch])
            self._collect(half, branch, arcs)
            self._collect(subset ^ half, branch, arcs)


def _halves(subset: int) -> Ints:
    """Return the proper subsets that hold the first member: each way to split a set, once."""
    members = [1 << k for k in range(subset.bit_length()) if subset >> k & 1]
    return np.array(
        [
            members[0] + sum(others)
            for size in range(len(members) - 1)
            for others in itertools.combinations(members[1:], size)
        ],
        dtype=np.int64,
    )


def _arborescence(root: int, arcs: set[tuple[int, int]], workers: int) -> list[Route]:
    """Return a tree within `arcs` from the root, without branches that reach no worker.

    Paths of equal cost may meet again, so that the arcs of the recursion need not be a tree.
    """
    children: dict[int, list[int]] = {}
    for u, v in sorted(arcs):
        children.setdefault(u, []).append(v)
    parent = {root: -1}
    found = [root]
    for u in found:
        for v in children.get(u, ()):
            if v not in parent:
                parent[v] = u
                found.append(v)
    needed = {root}
    for worker in range(workers):
        v = worker
        while v not in needed:
            needed.add(v)
            v = parent[v]
    return [(parent[v], v) for v in found if v in needed and v != root]
