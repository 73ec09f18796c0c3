"""Sweeps of reweighted messages as one compiled loop over flat arrays.

Messages lie in one array (`layout`). Labels that a pair's table does not tell apart are a class;
the table of classes lies there twice, with either node's classes as rows. A node sees its pairs as
slots, first those with nodes before it, then those with nodes after it.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.compiled import compiled

from ..subproblems.graph import LabelGraph
from .classes import distinct
from .layout import Layout

#: Of every node: where its table begins, its first slot, its first slot with a node after it; each
#: with the end of the last.
_Nodes = tuple[Ints, Ints, Ints]
#: Of every slot: where the message to this node lies, and that to the other; where the table with
#: this node's classes as rows lies; how many classes this node and the other have; where the class
#: of each label of this node lies, and of the other's; how many labels the other has.
_Slots = tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints]


class Network:
    """Messages of a graph, in the order of its layout.

    Parameters
    ----------
    graph : LabelGraph
    layout : Layout
    unary : float array
        Tables of all nodes.
    share : float array
        Part of its costs that every node gives to each of its pairs.

    Attributes
    ----------
    sent : float array
    """

    def __init__(self, graph: LabelGraph, layout: Layout, unary: Floats, share: Floats):
        tables = _Tables(graph)
        self.sent: Floats = np.zeros(len(layout.target))
        self._nodes, self._slots = _slots(layout, tables)
        self._unary, self._share = unary, share
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
                self.sent,
                most,
            )


def _slots(layout: Layout, tables: _Tables) -> tuple[_Nodes, _Slots]:
    """Return the slots of all nodes: pairs with nodes before them, then those with nodes after."""
    count = len(layout.nodes) - 1
    sizes = np.diff(layout.nodes)
    first, second = layout.pairs.T
    to_first, to_second = layout.messages.T
    straight = np.array([tables.straight[t] for t in layout.table.tolist()], dtype=np.int64)
    at, rows, columns, row, column = straight.reshape(-1, 5).T
    before = [to_second, to_first, at + rows * columns, columns, rows, column, row, sizes[first]]
    after = [to_first, to_second, at, rows, columns, row, column, sizes[second]]
    node = np.concatenate([second, first])
    order = np.argsort(node, kind="stable")
    mine, theirs, at, rows, columns, row, column, labels = (
        np.concatenate(both)[order] for both in zip(before, after, strict=True)
    )
    ends = np.concatenate([[0], np.bincount(node, minlength=count).cumsum()])
    middle = ends[:-1] + np.bincount(second, minlength=count)
    return (layout.nodes, ends, middle), (mine, theirs, at, rows, columns, row, column, labels)


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
            first, row = distinct(table, 0)
            table = table[first]
            first, column = distinct(table, 1)
            table = table[:, first]
            self._entries += [table.ravel(), table.T.ravel()]
            self._classes += [row, column]
            self.straight[t] = (entries, *table.shape, labels, labels + len(row))
            entries += 2 * table.size
            labels += len(row) + len(column)

    def entries(self) -> Floats:
        """Return all tables one after the other, each as it is and turned."""
        return np.concatenate(self._entries)

    def classes(self) -> Ints:
        """Return the rows and the columns of all tables' labels, one after the other."""
        return np.concatenate(self._classes)


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
            # least of each class of these, then the least sum for each class of the other's. Four
            # rows are taken together, along which machine code takes several entries at once; the
            # last row fills up.
            height, width = rows[s], widths[s]
            for i in range(height):
                least[i] = np.inf
            for x in range(labels):
                i = classes[row_at[s] + x]
                least[i] = min(least[i], part[x] - sent[mine[s] + x])
            for j in range(width):
                sums[j] = np.inf
            at, last = table_at[s], height - 1
            for i in range(0, height, 4):
                i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
                a, b, c, d = least[i], least[i1], least[i2], least[i3]
                row_a = tables[at + i * width : at + (i + 1) * width]
                row_b = tables[at + i1 * width : at + (i1 + 1) * width]
                row_c = tables[at + i2 * width : at + (i2 + 1) * width]
                row_d = tables[at + i3 * width : at + (i3 + 1) * width]
                for j in range(width):
                    four = min(row_a[j] + a, row_b[j] + b, row_c[j] + c, row_d[j] + d)
                    sums[j] = min(sums[j], four)
            lowest = sums[:width].min()
            for y in range(others[s]):
                j = classes[column_at[s] + y]
                sent[theirs[s] + y] = min(sums[j] - lowest, most)
