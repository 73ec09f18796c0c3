r"""Reparametrisation: costs moved between tables, and the lower bound that they prove.

Costs :math:`m_{e \to u}(x_u)` move from the table of a pair e = (u, v) to that of its node u. No
sum over an assignment changes, and

.. math:: \sum_u \min_{x_u} \Big[\theta_u + \sum_{e \ni u} m_{e \to u}\Big]
   + \sum_{e = (u, v)} \min_{x_u, x_v} \big[\theta_e - m_{e \to u} - m_{e \to v}\big]

is a lower bound for any messages. The best are the optimal duals of the linear relaxation (2).
`Reweighting` looks for them by sequential tree-reweighted message passing (TRW-S), in doubles:
forward and backward along the order of the nodes, each node divides its costs evenly among the
chains through it. `Reparametrisation` then takes whole numbers and is exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from ..subproblems.graph import (
    FORBIDDEN,
    LabelGraph,
)
from .sweeps import Network

#: What moves from a pair to its first and to its second node.
Message = tuple[Ints, Ints]
#: Messages are cut here, far above every sum of finite entries.
_MOST = FORBIDDEN // 4
#: Entries of equal tables that are taken at once. Tuned: `benchmarks/configured_models.py`.
_AT_ONCE = 2**16


class Reparametrisation:
    """The exact tables after messages.

    Parameters
    ----------
    graph : LabelGraph
    messages : sequence of (int array, int array)
        For every pair of the graph.

    Attributes
    ----------
    bound : int
        The sum of all tables' minima.
    excess : list of int arrays
        For every label of every node, by how much the tables' minima together are larger if the
        node has it.

    Raises
    ------
    ValueError
        If they do not fit the graph or 64 bits.
    """

    def __init__(self, graph: LabelGraph, messages: Sequence[Message]):
        if len(messages) != len(graph.edges):
            raise ValueError(f"messages: {len(messages)} for {len(graph.edges)} pairs")
        nodes = [graph.tables[t].copy() for t in graph.unary]
        self.excess: list[Ints] = [np.zeros(len(table), dtype=np.int64) for table in nodes]
        self.bound: int = 0
        pairs_of: dict[int, list[int]] = defaultdict(list)
        for i, ((u, v, t), sent) in enumerate(zip(graph.edges, messages, strict=True)):
            pairs_of[t].append(i)
            for o, moved in zip((u, v), sent, strict=True):
                if len(moved) != len(nodes[o]):
                    raise ValueError(f"messages[{i}]: {len(moved)} for {len(nodes[o])} labels")
                if (np.abs(moved) >= FORBIDDEN).any():
                    raise ValueError(f"messages[{i}]: too large for 64 bits")
                nodes[o] += moved
                if (np.abs(nodes[o]) >= 2**62).any():
                    raise ValueError(f"messages[{i}]: their sum is too large for 64 bits")
        for t, pairs in pairs_of.items():
            table = graph.tables[t]
            at_once = max(1, _AT_ONCE // table.size)
            for k in range(0, len(pairs), at_once):
                some = pairs[k : k + at_once]
                first, second = (np.stack([messages[i][side] for i in some]) for side in (0, 1))
                rest = table - first[:, :, None] - second[:, None, :]
                rest = np.where(table >= FORBIDDEN, 4 * FORBIDDEN, rest)
                rows, columns = rest.min(axis=2), rest.min(axis=1)
                for i, row, column in zip(some, rows, columns, strict=True):
                    least = int(row.min())
                    self.bound += least
                    self._add(graph.edges[i][0], row - least)
                    self._add(graph.edges[i][1], column - least)
        for o, table in enumerate(nodes):
            self.bound += int(table.min())
            self._add(o, table - table.min())

    def _add(self, o: int, more: Ints) -> None:
        self.excess[o] = np.minimum(self.excess[o] + np.minimum(more, FORBIDDEN), FORBIDDEN)

    def below(self, cutoff: int) -> dict[int, tuple[int, ...]] | None:
        """Return the labels of assignments whose sum may be below a cutoff; None if there is none.

        All other labels belong to assignments of at least the cutoff only.
        """
        room = cutoff - self.bound
        kept = {o: np.flatnonzero(excess < room) for o, excess in enumerate(self.excess)}
        if any(len(left) == 0 for left in kept.values()):
            return None
        return {
            o: tuple(left.tolist()) for o, left in kept.items() if len(left) < len(self.excess[o])
        }


class Reweighting:
    """Messages of a graph, improved sweep by sweep.

    Parameters
    ----------
    graph : LabelGraph
        Each pair of nodes once.

    Attributes
    ----------
    to_first, to_second : list of float arrays
        What moves from every pair to its first and to its second node.
    """

    def __init__(self, graph: LabelGraph):
        self.graph = graph
        self._unary = [graph.tables[t].astype(np.float64) for t in graph.unary]
        self._before: list[list[int]] = [[] for _ in graph.domains]
        self._after: list[list[int]] = [[] for _ in graph.domains]
        for e, (u, v, _) in enumerate(graph.edges):
            self._after[u].append(e)
            self._before[v].append(e)
        self._share = [
            1 / max(len(a), len(b), 1) for a, b in zip(self._before, self._after, strict=True)
        ]
        self._network = Network(graph, self._unary, self._share, self._before, self._after)
        self.to_first: list[Floats] = self._network.to_first
        self.to_second: list[Floats] = self._network.to_second

    def sweep(self) -> None:
        """Pass along all nodes forward and backward."""
        self._network.sweep(float(_MOST))

    def costs(self, o: int) -> Floats:
        """Return the reparametrised table of a node."""
        total = self._unary[o].copy()
        for e in self._before[o]:
            total += self.to_second[e]
        for e in self._after[o]:
            total += self.to_first[e]
        return total

    def messages(self) -> list[Message]:
        """Return whole messages after a sweep, with the nodes' costs spread over their pairs."""
        to_second = list(self.to_second)
        for o, before in enumerate(self._before):
            if before:
                part = self._share[o] * self.costs(o)
                for e in before:
                    to_second[e] = to_second[e] - part
        return [
            (_whole(first), _whole(second))
            for first, second in zip(self.to_first, to_second, strict=True)
        ]

    def likely(self, most_cells: int, excess: float) -> dict[int, tuple[int, ...]]:
        """Return for every node the labels whose costs are least, or nearly so.

        Parameters
        ----------
        most_cells : int
            Labels of a node.
        excess : float
            By which costs may exceed the least.
        """
        kept = {}
        for o in range(len(self._unary)):
            costs = self.costs(o)
            order = np.argsort(costs, kind="stable")[:most_cells]
            near = order[costs[order] <= costs[order[0]] + excess]
            kept[o] = tuple(sorted(near.tolist()))
        return kept


def _whole(message: Floats) -> Ints:
    return np.rint(np.clip(message, -_MOST, _MOST)).astype(np.int64)
