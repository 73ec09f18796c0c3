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

from collections.abc import Mapping, Sequence

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from ..subproblems.graph import (
    FORBIDDEN,
    LabelGraph,
)
from .layout import Layout, flat, layout_of
from .sweeps import Network

#: What moves from a pair to its first and to its second node.
Message = tuple[Ints, Ints]
#: Messages are cut here, far above every sum of finite entries.
_MOST = FORBIDDEN // 4
#: Entries of equal tables that are taken at once. Tuned: `benchmarks/configured_models.py`.
_AT_ONCE = 2**16
#: Pairs that are taken at once: sums of 64 forbidden entries fit 64 bits. By definition.
_MOST_AT_ONCE = 62


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

    Raises
    ------
    ValueError
        If they do not fit the graph or 64 bits.
    """

    def __init__(self, graph: LabelGraph, messages: Sequence[Message]):
        layout = layout_of(graph)
        sent = _checked(graph, layout, messages)
        own = flat([graph.tables[t] for t in graph.unary], np.int64)
        self._layout = layout
        self._excess: Ints = np.zeros(len(own), dtype=np.int64)
        self.bound: int = 0
        largest = np.bincount(layout.target, np.abs(sent).astype(np.float64), len(own))
        if (largest + np.abs(own) >= 2.0**62).any():
            raise ValueError("messages: their sum is too large for 64 bits")
        np.add.at(own, layout.target, sent)
        by_table = np.argsort(layout.table, kind="stable")
        firsts = np.flatnonzero(np.diff(layout.table[by_table])) + 1
        for pairs in np.split(by_table, firsts) if len(by_table) else ():
            table = graph.tables[int(layout.table[pairs[0]])]
            at_once = max(1, min(_MOST_AT_ONCE, _AT_ONCE // table.size))
            for k in range(0, len(pairs), at_once):
                self._add_pairs(pairs[k : k + at_once], table, sent)
        least = np.minimum.reduceat(own, layout.nodes[:-1])
        self.bound += sum(least.tolist())
        self._excess += np.minimum(own - np.repeat(least, np.diff(layout.nodes)), FORBIDDEN)
        np.minimum(self._excess, FORBIDDEN, out=self._excess)

    @property
    def excess(self) -> list[Ints]:
        """By node, for every label by how much the tables' minima together are larger with it."""
        return self._layout.by_node(self._excess)

    def _add_pairs(self, pairs: Ints, table: Ints, sent: Ints) -> None:
        """Count pairs of one table."""
        rows, columns = table.shape
        begins = self._layout.messages[pairs]
        first = begins[:, :1] + np.arange(rows)
        second = begins[:, 1:] + np.arange(columns)
        rest = table - sent[first][:, :, None] - sent[second][:, None, :]
        rest = np.where(table >= FORBIDDEN, 4 * FORBIDDEN, rest)
        by_row, by_column = rest.min(axis=2), rest.min(axis=1)
        least = by_row.min(axis=1)
        self.bound += sum(least.tolist())
        up, down = self._layout.target[first], self._layout.target[second]
        for labels, found in ((up, by_row), (down, by_column)):
            np.add.at(self._excess, labels, np.minimum(found - least[:, None], FORBIDDEN))
        for labels in (up, down):
            self._excess[labels] = np.minimum(self._excess[labels], FORBIDDEN)

    def below(self, cutoff: int) -> dict[int, tuple[int, ...]] | None:
        """Return the labels of assignments whose sum may be below a cutoff; None if there is none.

        All other labels belong to assignments of at least the cutoff only.
        """
        begins = self._layout.nodes
        left = self._excess < cutoff - self.bound
        counts = np.add.reduceat(left, begins[:-1], dtype=np.int64)
        if (counts == 0).any():
            return None
        return {
            o: tuple(np.flatnonzero(left[begins[o] : begins[o + 1]]).tolist())
            for o in np.flatnonzero(counts < np.diff(begins)).tolist()
        }


def _checked(graph: LabelGraph, layout: Layout, messages: Sequence[Message]) -> Ints:
    """Return the messages one after the other.

    Raises
    ------
    ValueError
        If they do not fit the graph or 64 bits.
    """
    if len(messages) != len(graph.edges):
        raise ValueError(f"messages: {len(messages)} for {len(graph.edges)} pairs")
    for i, ((u, v, _), both) in enumerate(zip(graph.edges, messages, strict=True)):
        for o, moved in zip((u, v), both, strict=True):
            if len(moved) != len(graph.domains[o]):
                raise ValueError(f"messages[{i}]: {len(moved)} for {len(graph.domains[o])} labels")
    sent = flat([moved for pair in messages for moved in pair], np.int64)
    if (np.abs(sent) >= FORBIDDEN).any():
        raise ValueError("messages: too large for 64 bits")
    return sent


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
        self._layout = layout_of(graph)
        self._sizes = np.diff(self._layout.nodes)
        self._unary = flat([graph.tables[t] for t in graph.unary], np.int64).astype(np.float64)
        after, before = (
            np.bincount(side, minlength=len(self._sizes)) for side in self._layout.pairs.T
        )
        self._share: Floats = 1 / np.maximum(np.maximum(before, after), 1)
        self._network = Network(graph, self._layout, self._unary, self._share)
        self.to_first, self.to_second = self._layout.by_pair(self._network.sent)

    def sweep(self) -> None:
        """Pass along all nodes forward and backward."""
        self._network.sweep(float(_MOST))

    def restricted(self, graph: LabelGraph, kept: Mapping[int, Sequence[int]]) -> Reweighting:
        """Return these messages for the labels that nodes of a restricted graph keep."""
        left = np.ones(len(self._unary), dtype=bool)
        for o, positions in kept.items():
            begin = self._layout.nodes[o]
            left[begin : self._layout.nodes[o + 1]] = False
            left[begin + np.array(positions)] = True
        state = Reweighting(graph)
        state._network.sent[:] = self._network.sent[left[self._layout.target]]
        return state

    def _costs(self) -> Floats:
        """Return the reparametrised tables of all nodes."""
        sent = np.bincount(self._layout.target, self._network.sent, len(self._unary))
        return self._unary + sent

    def messages(self) -> list[Message]:
        """Return whole messages after a sweep, with the nodes' costs spread over their pairs."""
        layout = self._layout
        part = (np.repeat(self._share, self._sizes) * self._costs())[layout.target]
        ends = np.append(layout.messages.ravel(), len(part))
        to_second = np.repeat(np.arange(len(ends) - 1) % 2 == 1, np.diff(ends))
        spread = self._network.sent - np.where(to_second, part, 0.0)
        whole = np.rint(np.clip(spread, -_MOST, _MOST)).astype(np.int64)
        return list(zip(*layout.by_pair(whole), strict=True))

    def likely(self, most_cells: int, excess: float) -> dict[int, tuple[int, ...]]:
        """Return for every node the labels whose costs are least, or nearly so.

        Parameters
        ----------
        most_cells : int
            Labels of a node.
        excess : float
            By which costs may exceed the least.
        """
        costs, begins = self._costs(), self._layout.nodes
        least = np.repeat(np.minimum.reduceat(costs, begins[:-1]), self._sizes)
        node = np.repeat(np.arange(len(self._sizes)), self._sizes)
        order = np.lexsort((costs, node))
        rank = np.empty(len(costs), dtype=np.int64)
        rank[order] = np.arange(len(costs)) - np.repeat(begins[:-1], self._sizes)
        near = (rank < most_cells) & (costs <= least + excess)
        return {
            o: tuple(np.flatnonzero(some).tolist())
            for o, some in enumerate(self._layout.by_node(near))
        }
