"""Where messages and nodes' tables lie in flat arrays.

Every pair (u, v) has two messages, one to each of its nodes; they lie one after the other, pair by
pair. Nodes' tables lie one after the other, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gadgetopt.numbers.arrays import Ints

from ..subproblems.graph import LabelGraph

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True)
class Layout:
    """Where the parts of flat arrays begin.

    Attributes
    ----------
    pairs : int array, shape (pairs, 2)
        The nodes of every pair.
    table : int array, shape (pairs,)
        The number of its table.
    nodes : int array, shape (nodes + 1,)
        Where each node's table begins, and the end of the last.
    messages : int array, shape (pairs, 2)
        Where the messages to the first and to the second node begin.
    target : int array
        For every entry of the messages that of its node's table.
    """

    pairs: Ints
    table: Ints
    nodes: Ints
    messages: Ints
    target: Ints

    def by_node(self, entries: NDArray[Number]) -> list[NDArray[Number]]:
        """Return the part of every node."""
        ends = self.nodes.tolist()
        return [entries[a:b] for a, b in pairwise(ends)]

    def by_pair(
        self, entries: NDArray[Number]
    ) -> tuple[list[NDArray[Number]], list[NDArray[Number]]]:
        """Return the messages to the first nodes of all pairs, and those to the second."""
        ends = [*self.messages.ravel().tolist(), len(entries)]
        parts = [entries[a:b] for a, b in pairwise(ends)]
        return parts[::2], parts[1::2]


def layout_of(graph: LabelGraph) -> Layout:
    """Return the layout of a graph."""
    sizes = np.array([len(d) for d in graph.domains], dtype=np.int64)
    nodes = np.concatenate([[0], sizes.cumsum()])
    edges = np.array(graph.edges, dtype=np.int64).reshape(-1, 3)
    lengths = sizes[edges[:, :2].ravel()]
    begins = lengths.cumsum() - lengths
    # Entry by entry: how far it is from where its message begins, and where its node begins.
    target = np.arange(lengths.sum()) + np.repeat(nodes[edges[:, :2].ravel()] - begins, lengths)
    return Layout(edges[:, :2], edges[:, 2], nodes, begins.reshape(-1, 2), target)


def flat(tables: Sequence[NDArray[Number]], kind: type[Number]) -> NDArray[Number]:
    """Return arrays one after the other."""
    return np.concatenate([*tables, np.zeros(0, dtype=kind)])
