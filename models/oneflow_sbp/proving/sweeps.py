"""Sweeps of reweighted messages as one compiled loop over flat arrays.

Every pair (u, v) has two messages, one to each of its nodes, which lie one after the other in one
array; its table lies there twice, with either node's labels as rows. A node sees its pairs as
slots, first those with nodes before it, then those with nodes after it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.compiled import compiled

from ..subproblems.graph import LabelGraph

#: Of every node: where its table begins, its first slot, its first slot with a node after it; each
#: with the end of the last.
_Nodes = tuple[Ints, Ints, Ints]
#: Of every slot: where the message to this node lies, that to the other, the table with this node's
#: labels as rows, and the number of the other's labels.
_Slots = tuple[Ints, Ints, Ints, Ints]


class Network:
    """Messages of a graph, those to the first and to the second node of every pair.

    Parameters
    ----------
    graph : LabelGraph
    unary : sequence of float arrays
        Table of every node.
    share : sequence of float
        Part of its costs that a node gives to each of its pairs.
    before, after : sequence of list of int
        For every node its pairs with nodes before it, and after it.
    """

    def __init__(
        self,
        graph: LabelGraph,
        unary: Sequence[Floats],
        share: Sequence[float],
        before: Sequence[Sequence[int]],
        after: Sequence[Sequence[int]],
    ):
        sizes = [len(d) for d in graph.domains]
        ends = np.cumsum([0, *(sizes[o] for u, v, _ in graph.edges for o in (u, v))])
        self._sent: Floats = np.zeros(int(ends[-1]))
        places = list(zip(ends[0:-1:2].tolist(), ends[1::2].tolist(), strict=True))
        self.to_first: list[Floats] = [
            self._sent[at : at + sizes[u]]
            for (at, _), (u, _, _) in zip(places, graph.edges, strict=True)
        ]
        self.to_second: list[Floats] = [
            self._sent[at : at + sizes[v]]
            for (_, at), (_, v, _) in zip(places, graph.edges, strict=True)
        ]
        flat, table_at = _flattened(graph)
        slots = []
        for o in range(len(sizes)):
            for e in before[o]:
                u, _, t = graph.edges[e]
                slots.append((places[e][1], places[e][0], table_at[t][1], sizes[u]))
            for e in after[o]:
                _, v, t = graph.edges[e]
                slots.append((places[e][0], places[e][1], table_at[t][0], sizes[v]))
        mine, theirs, tables, widths = np.array(slots, dtype=np.int64).reshape(-1, 4).T.copy()
        counts = [len(b) + len(a) for b, a in zip(before, after, strict=True)]
        first = np.cumsum([0, *counts])
        middle = first[:-1] + np.array([len(b) for b in before], dtype=np.int64)
        self._nodes: _Nodes = (np.cumsum([0, *sizes]), first, middle)
        self._slots: _Slots = (mine, theirs, tables, widths)
        self._unary: Floats = np.concatenate([*unary, np.zeros(0)])
        self._share: Floats = np.array(share, dtype=np.float64)
        self._tables: Floats = flat

    def sweep(self, most: float) -> None:
        """Pass along all nodes forward and backward; messages are cut at `most`."""
        for forward in (True, False):
            _pass(
                forward,
                self._nodes,
                self._slots,
                self._unary,
                self._share,
                self._tables,
                self._sent,
                most,
            )


def _flattened(graph: LabelGraph) -> tuple[Floats, dict[int, tuple[int, int]]]:
    """Return the pairs' tables, and where each lies as it is and turned."""
    parts: list[Floats] = [np.zeros(0)]
    at, places = 0, {}
    for t in dict.fromkeys(t for _, _, t in graph.edges):
        table = graph.tables[t].astype(np.float64)
        parts += [table.ravel(), table.T.ravel()]
        places[t] = at, at + table.size
        at += 2 * table.size
    return np.concatenate(parts), places


@compiled
def _pass(
    forward: bool,
    nodes: _Nodes,
    slots: _Slots,
    unary: Floats,
    share: Floats,
    tables: Floats,
    sent: Floats,
    most: float,
) -> None:
    """Send the messages of every node to those after it, or backward to those before it."""
    node_at, first, middle = nodes
    mine, theirs, table_at, widths = slots
    count = len(share)
    for step in range(count):
        o = step if forward else count - 1 - step
        begin = middle[o] if forward else first[o]
        end = first[o + 1] if forward else middle[o]
        if begin == end:
            continue
        # The node's costs with all that came in, of which every pair gets its share.
        labels = node_at[o + 1] - node_at[o]
        part = unary[node_at[o] : node_at[o + 1]].copy()
        for s in range(first[o], first[o + 1]):
            for x in range(labels):
                part[x] += sent[mine[s] + x]
        for x in range(labels):
            part[x] *= share[o]
        for s in range(begin, end):
            # For each label of the other node the least sum over the labels of this one. Rows are
            # taken one after the other, so that machine code takes several entries at once.
            width = widths[s]
            message = sent[theirs[s] : theirs[s] + width]
            for y in range(width):
                message[y] = np.inf
            for x in range(labels):
                moved = part[x] - sent[mine[s] + x]
                row = tables[table_at[s] + x * width : table_at[s] + (x + 1) * width]
                for y in range(width):
                    message[y] = min(message[y], row[y] + moved)
            least = message.min()
            for y in range(width):
                message[y] = min(message[y] - least, most)
