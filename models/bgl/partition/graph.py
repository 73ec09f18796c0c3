"""Undirected graphs as arrays: neighbours of all nodes in one array, row by row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gadgetopt.numbers.arrays import Ints


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph without loops; each pair of neighbours is there in both directions.

    Attributes
    ----------
    starts : ndarray of int64, shape (nodes + 1,)
        The neighbours of v are `heads[starts[v] : starts[v + 1]]`, in ascending order.
    heads : ndarray of int32, shape (2 * edges,)
    """

    starts: Ints
    heads: np.ndarray

    @classmethod
    def of(cls, num_nodes: int, edges: Iterable[tuple[int, ...]]) -> Graph:
        """Return the graph with these edges, whatever their direction."""
        pairs = np.array(list(edges), dtype=np.int64).reshape(-1, 2)
        return cls.of_arrays(num_nodes, pairs[:, 0], pairs[:, 1])

    @classmethod
    def of_arrays(cls, num_nodes: int, tails: np.ndarray, heads: np.ndarray) -> Graph:
        """Return the graph with these edges; loops and repetitions are left out."""
        kept = tails != heads
        t, h = tails[kept].astype(np.int32), heads[kept].astype(np.int32)
        ones = np.ones(2 * len(t), dtype=np.int8)
        matrix = csr_array(
            (ones, (np.concatenate([t, h]), np.concatenate([h, t]))), shape=(num_nodes, num_nodes)
        )
        matrix.sum_duplicates()
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False))

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.starts) - 1

    @property
    def degree(self) -> Ints:
        """Number of neighbours of every node."""
        return np.diff(self.starts)

    def neighbours(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return the neighbours of some nodes, one after the other, and whose each is.

        Parameters
        ----------
        nodes : ndarray of int

        Returns
        -------
        heads : ndarray of int
        position : ndarray of int
            Index into `nodes`.
        """
        first = self.starts[nodes]
        counts = self.starts[nodes + 1] - first
        position = np.repeat(np.arange(len(nodes)), counts)
        ends = np.cumsum(counts)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
        return self.heads[np.repeat(first, counts) + within], position
