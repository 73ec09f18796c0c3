"""Sweeps of reweighted messages as one compiled loop over flat arrays.

Every pair (u, v) has two messages, one to each of its nodes, which lie one after the other in one
array. Labels that the pair's table does not tell apart are a class; the table of classes lies there
twice, with either node's classes as rows. A node sees its pairs as slots, first those with nodes
before it, then those with nodes after it.
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
#: Of every slot: where the message to this node lies, and that to the other; where the table with
#: this node's classes as rows lies; how many classes this node and the other have; where the class
#: of each label of this node lies, and of the other's; how many labels the other has.
_Slots = tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints]


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
        tables = _Tables(graph)
        slots = []
        for o in range(len(sizes)):
            for e in before[o]:
                u, _, t = graph.edges[e]
                slots.append((places[e][1], places[e][0], *tables.turned(t), sizes[u]))
            for e in after[o]:
                _, v, t = graph.edges[e]
                slots.append((places[e][0], places[e][1], *tables.straight[t], sizes[v]))
        columns = np.array(slots, dtype=np.int64).reshape(-1, 8).T
        mine, theirs, at, rows, width, row, column, labels = columns.copy()
        self._slots: _Slots = (mine, theirs, at, rows, width, row, column, labels)
        counts = [len(b) + len(a) for b, a in zip(before, after, strict=True)]
        first = np.cumsum([0, *counts])
        middle = first[:-1] + np.array([len(b) for b in before], dtype=np.int64)
        self._nodes: _Nodes = (np.cumsum([0, *sizes]), first, middle)
        self._unary: Floats = np.concatenate([*unary, np.zeros(0)])
        self._share: Floats = np.array(share, dtype=np.float64)
        self._tables: Floats = tables.entries()
        self._classes: Ints = tables.classes()

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
                self._classes,
                self._sent,
                most,
            )


class _Tables:
    """The pairs' tables, each once and with equal rows and columns once.

    Attributes
    ----------
    straight : dict
        Of every table: where it lies, its rows and its columns; where the row of each label lies,
        and the column of each label.
    """

    def __init__(self, graph: LabelGraph):
        self.straight: dict[int, tuple[int, int, int, int, int]] = {}
        self._entries: list[Floats] = [np.zeros(0)]
        self._classes: list[Ints] = [np.zeros(0, dtype=np.int64)]
        entries = labels = 0
        for t in dict.fromkeys(t for _, _, t in graph.edges):
            table = graph.tables[t].astype(np.float64)
            first, row = _distinct(table)
            table = table[first]
            first, column = _distinct(table.T)
            table = table[:, first]
            self._entries += [table.ravel(), table.T.ravel()]
            self._classes += [row, column]
            self.straight[t] = (entries, *table.shape, labels, labels + len(row))
            entries += 2 * table.size
            labels += len(row) + len(column)

    def turned(self, t: int) -> tuple[int, int, int, int, int]:
        """Return as `straight` for the table whose rows are the columns."""
        at, rows, columns, row, column = self.straight[t]
        return at + rows * columns, columns, rows, column, row

    def entries(self) -> Floats:
        """Return all tables one after the other, each as it is and turned."""
        return np.concatenate(self._entries)

    def classes(self) -> Ints:
        """Return the rows and the columns of all tables' labels, one after the other."""
        return np.concatenate(self._classes)


def _distinct(table: Floats) -> tuple[Ints, Ints]:
    """Return the first of each group of equal rows, and the group of every row."""
    _, first, group = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), group.reshape(-1).astype(np.int64)


@compiled
def _pass(
    forward: bool,
    nodes: _Nodes,
    slots: _Slots,
    unary: Floats,
    share: Floats,
    tables: Floats,
    classes: Ints,
    sent: Floats,
    most: float,
) -> None:
    """Send the messages of every node to those after it, or backward to those before it."""
    node_at, first, middle = nodes
    mine, theirs, table_at, rows, widths, row_at, column_at, others = slots
    least = np.empty(rows.max())
    sums = np.empty(widths.max())
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
            # For each label of the other node the least sum over the labels of this one: first the
            # least of each class of these, then the least sum for each class of the other's. Rows
            # are taken one after the other, so that machine code takes several entries at once.
            height, width = rows[s], widths[s]
            for i in range(height):
                least[i] = np.inf
            for x in range(labels):
                i = classes[row_at[s] + x]
                least[i] = min(least[i], part[x] - sent[mine[s] + x])
            for j in range(width):
                sums[j] = np.inf
            for i in range(height):
                moved = least[i]
                row = tables[table_at[s] + i * width : table_at[s] + (i + 1) * width]
                for j in range(width):
                    sums[j] = min(sums[j], row[j] + moved)
            lowest = sums[:width].min()
            for y in range(others[s]):
                j = classes[column_at[s] + y]
                sent[theirs[s] + y] = min(sums[j] - lowest, most)
