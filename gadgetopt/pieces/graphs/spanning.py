"""Minimum spanning trees of one graph, computed many times under changing weights.

Ties are broken by edge index: of all minimum spanning trees the one whose sorted list of edges is
lexicographically smallest. Sparse and dense graphs take different routes to that same tree. A
weight of zero is not a missing edge, so scipy's routine gets ranks instead of weights.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csgraph, csr_array

from gadgetopt.numbers.arrays import Floats, Ints

#: Above this number of edges per node Prim's rows beat sorting the edges (measured).
#: Tuned: `benchmarks/constants.py`.
DENSE_DEGREE = 100

_NO_EDGE = np.iinfo(np.int64).max


class SpanningTrees:
    """The spanning trees of one graph: call it with weights to get a cheapest one.

    Parameters
    ----------
    num_nodes : int
    u, v : ndarray of int, shape (edges,)
        Ends of each edge, each pair of nodes at most once, no loops.
    """

    def __init__(self, num_nodes: int, u: npt.ArrayLike, v: npt.ArrayLike):
        self.num_nodes = num_nodes
        self.u: Ints = np.asarray(u, dtype=np.int64)
        self.v: Ints = np.asarray(v, dtype=np.int64)
        self.dense: bool = len(self.u) > DENSE_DEGREE * num_nodes
        if self.dense:
            self._weight = np.full((num_nodes, num_nodes), np.inf)
            self._edge = np.full((num_nodes, num_nodes), _NO_EDGE)
            self._edge[self.u, self.v] = self._edge[self.v, self.u] = np.arange(len(self.u))
        else:
            low, high = np.minimum(self.u, self.v), np.maximum(self.u, self.v)
            self._by_row = np.lexsort((high, low))
            indptr = np.searchsorted(low[self._by_row], np.arange(num_nodes + 1))
            self._indices = high[self._by_row].astype(np.int32)
            self._indptr = indptr.astype(np.int32)

    def __call__(self, weight: Floats) -> Ints:
        """Return the edges of a minimum spanning tree.

        Parameters
        ----------
        weight : ndarray, shape (edges,)
            Of either sign; infinite for an edge that does not exist.

        Returns
        -------
        ndarray of int, shape (num_nodes - 1,)
            Edges in ascending order; empty if the graph is disconnected.

        Notes
        -----
        O(n^2) on dense graphs (Prim), O(m log m) on sparse ones (Kruskal).
        """
        if self.num_nodes <= 1:
            return np.empty(0, dtype=np.int64)
        tree = self._prim(weight) if self.dense else self._kruskal(weight)
        if len(tree) < self.num_nodes - 1 or not np.isfinite(weight[tree]).all():
            return np.empty(0, dtype=np.int64)
        return tree

    def _kruskal(self, weight: Floats) -> Ints:
        order = np.argsort(weight, kind="stable")
        rank = np.empty(len(order))
        rank[order] = np.arange(1, len(order) + 1)
        graph = csr_array(
            (rank[self._by_row], self._indices, self._indptr),
            shape=(self.num_nodes, self.num_nodes),
        )
        chosen = csgraph.minimum_spanning_tree(graph).data
        return np.sort(order[chosen.astype(np.int64) - 1])

    def _prim(self, weight: Floats) -> Ints:
        self._weight[self.u, self.v] = weight
        self._weight[self.v, self.u] = weight
        return prim(self._weight, self._edge)


def prim(weight: Floats, edge: Ints) -> Ints:
    """Return the edges of a minimum spanning tree of a dense graph, in ascending order.

    Parameters
    ----------
    weight : ndarray, shape (n, n)
        Symmetric; infinite where there is no edge.
    edge : ndarray of int, shape (n, n)
        Symmetric: the number of each edge, by which ties are broken.

    Returns
    -------
    ndarray of int
        n - 1 edges; fewer if the graph is disconnected.
    """
    n = len(weight)
    tree = np.empty(n - 1, dtype=np.int64)
    # Cheapest edge from the tree to each node outside of it; nodes inside have none.
    key, by = weight[0].copy(), edge[0].copy()
    outside = np.ones(n, dtype=bool)
    node = 0
    for k in range(n - 1):
        outside[node] = False
        key[node] = np.inf
        least = key[key.argmin()]
        if least == np.inf:
            return np.sort(tree[:k])
        tied = np.flatnonzero(key == least)
        node = tied[by[tied].argmin()] if len(tied) > 1 else tied[0]
        tree[k] = by[node]
        row, row_edge = weight[node], edge[node]
        better = (row < key) | ((row == key) & (row_edge < by))
        better &= outside
        key[better] = row[better]
        by[better] = row_edge[better]
    return np.sort(tree)


def minimum_spanning_tree(
    num_nodes: int, u: npt.ArrayLike, v: npt.ArrayLike, weight: npt.ArrayLike
) -> Ints:
    """Return the edges of a minimum spanning tree; empty if there is none.

    For repeated calls on one graph build `SpanningTrees` once.

    Parameters
    ----------
    num_nodes : int
    u, v : array of int, shape (edges,)
        Ends of each edge, each pair of nodes at most once.
    weight : array, shape (edges,)
        Infinite for an edge that does not exist.

    Returns
    -------
    ndarray of int, shape (num_nodes - 1,)
        Edges in ascending order; ties are broken by edge index.
    """
    return SpanningTrees(num_nodes, u, v)(np.asarray(weight, dtype=np.float64))
