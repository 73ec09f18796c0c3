r"""The least cost of all assignments, or a lower bound on it: nodes go one after the other.

A node o goes with all tables that contain it; one table over its neighbours N(o) takes their place,

.. math:: f(x_{N(o)}) = \min_{x_o} \sum_\theta \theta(x_o, x_{N(o)}).

It is reduced by its minimum, which counts towards the bound. The order is the certificate's, and
any order will do. Where its tables would be too large, a certificate may *split* a node: each part
of its tables then chooses a label of its own, after costs of labels were moved between the parts.

All entries are at least 0, and the tables always add up to no more than the cost of an allowed
assignment, which is below `FORBIDDEN`. So an entry that reaches it belongs to none.

Labels that no table tells apart have one row. A node whose tables equal those of one before, as
happens in layers of equal shape, is looked up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.memory import MOST_CELLS

from .cost_tables import FORBIDDEN, CostTables, Domains, Pair
from .records import Split

#: Entries of a table that is kept, about a gigabyte.
MOST_ENTRIES = 7 * MOST_CELLS
#: Sums of all nodes together, which take minutes. Tuned: `benchmarks/constants.py`.
MOST_SUMS = 2**33
#: Sums that are taken at once; of more, a label at a time. Tuned: `benchmarks/constants.py`.
_AT_ONCE = 2**18


class Table(NamedTuple):
    """A table over nodes: for every node the array with the row of each label; its own number."""

    nodes: tuple[int, ...]
    rows: tuple[int, ...]
    number: int


def least_cost(
    costs: CostTables,
    domains: Domains,
    order: Sequence[int],
    splits: Sequence[Split],
    most_cells: int,
) -> int:
    """Return a lower bound on the cost of all assignments of the labels in some domains.

    It is at least `FORBIDDEN` if none is allowed, and the least cost if nothing is split.

    Parameters
    ----------
    costs : CostTables
    domains : Domains
        At least one label a node.
    order : sequence of int
        All nodes.
    splits : sequence of Split
    most_cells : int
        Sums of a node.

    Raises
    ------
    ValueError
        If a split does not fit, or there are too many sums.
    """
    return _Elimination(costs, domains, order, most_cells).run({s.node: s for s in splits})


class _Elimination:
    def __init__(self, costs: CostTables, domains: Domains, order: Sequence[int], most_cells: int):
        self.arrays, self.domains, self.order = costs.arrays, domains, order
        self.most_cells, self.left = most_cells, MOST_SUMS
        self.place = {o: at for at, o in enumerate(order)}
        self.tables: list[list[Table]] = [[] for _ in order]
        self.known: dict[object, tuple[int, tuple[int, ...], int]] = {}
        self.classes: dict[tuple[int, ...], tuple[int, Ints]] = {}
        self.cut: dict[object, Table] = {}
        self.bound = 0
        for o, number in enumerate(costs.own):
            self._add(self._of_node(o, number))
        for pair in costs.pairs:
            self._add(self._of_pair(pair))

    def run(self, splits: Mapping[int, Split]) -> int:
        for o in self.order:
            tables, self.tables[o] = self.tables[o], []
            parts = self._split(o, tables, splits[o]) if o in splits else [self._least(o, tables)]
            for constant, table in parts:
                if constant >= FORBIDDEN:
                    return FORBIDDEN
                self.bound += constant
                self._add(table)
        return self.bound

    # -- tables of the instance, of the labels in the domains -----------------------------------

    def _add(self, table: Table) -> None:
        """Put a table where the first of its nodes goes."""
        if table.nodes:
            self.tables[min(table.nodes, key=self.place.__getitem__)].append(table)

    def _of_node(self, o: int, number: int) -> Table:
        key = (number, self.domains[o])
        if key not in self.cut:
            own = self.arrays[number][list(self.domains[o])]
            everyone = self.arrays.number(np.arange(len(own)))
            self.cut[key] = Table((), (everyone,), self.arrays.number(own))
        return self.cut[key]._replace(nodes=(o,))

    def _of_pair(self, pair: Pair) -> Table:
        """Return the table of a pair, without a node that has one label only."""
        u, v, number, rows, columns = pair
        mine, other = self.domains[u], self.domains[v]
        key = (number, rows, columns, mine, other)
        if key not in self.cut:
            table = self.arrays[number]
            up, down = self.arrays[rows][list(mine)], self.arrays[columns][list(other)]
            if len(mine) == 1:
                table, kept = table[up[0]], [down]
            elif len(other) == 1:
                table, kept = table[:, down[0]], [up]
            else:
                kept = [up, down]
            numbers = tuple(self.arrays.number(r) for r in kept)
            self.cut[key] = Table((), numbers, self.arrays.number(np.ascontiguousarray(table)))
        nodes = (v,) if len(mine) == 1 else (u,) if len(other) == 1 else (u, v)
        return self.cut[key]._replace(nodes=nodes)

    # -- one node ----------------------------------------------------------------------------------

    def _least(self, o: int, tables: Sequence[Table]) -> tuple[int, Table]:
        """Return the constant and the table over its neighbours that take a node's place."""
        nodes = _neighbours(o, tables)
        spot = {v: at for at, v in enumerate((o, *nodes))}
        key = tuple((t.number, t.rows, tuple(spot[v] for v in t.nodes)) for t in tables)
        if key not in self.known:
            classes = self._classes(nodes, tables)
            spread, shape = self._spread(o, nodes, tables, classes)
            at_once = math.prod(shape) <= _AT_ONCE
            parts = [slice(None)] if at_once else [slice(x, x + 1) for x in range(shape[0])]
            least: Ints = _sum(spread, parts[0], shape).min(axis=0)
            for part in parts[1:]:
                least = np.minimum(least, _sum(spread, part, shape).min(axis=0))
            self.known[key] = self._reduced(least, [number for number, _ in classes])
        constant, rows, number = self.known[key]
        return constant, Table(nodes, rows, number)

    def _reduced(self, least: Ints, rows: Sequence[int]) -> tuple[int, tuple[int, ...], int]:
        constant = int(least.min())
        table = np.where(least >= FORBIDDEN, FORBIDDEN, least - constant)
        return constant, tuple(rows), self.arrays.number(table)

    def _classes(self, nodes: Sequence[int], tables: Sequence[Table]) -> list[tuple[int, Ints]]:
        """Return for each node the array of its labels' classes, and a label of each class.

        Labels of a class have the same row in all tables.
        """
        found: dict[int, set[int]] = {v: set() for v in nodes}
        for table in tables:
            for v, rows in zip(table.nodes, table.rows, strict=True):
                if v in found:
                    found[v].add(rows)
        classes = []
        for v in nodes:
            key = tuple(sorted(found[v]))
            if key not in self.classes:
                stacked = np.stack([self.arrays[r] for r in key])
                _, first, of = np.unique(stacked, axis=1, return_index=True, return_inverse=True)
                self.classes[key] = self.arrays.number(of.reshape(-1).astype(np.int64)), first
            classes.append(self.classes[key])
        return classes

    def _spread(
        self,
        o: int,
        nodes: Sequence[int],
        tables: Sequence[Table],
        classes: Sequence[tuple[int, Ints]],
    ) -> tuple[list[Ints], tuple[int, ...]]:
        """Return tables with axes for the node's labels and its neighbours' classes; the shape."""
        label = {v: first for v, (_, first) in zip(nodes, classes, strict=True)}
        shape = (len(self.domains[o]), *(len(label[v]) for v in nodes))
        cells = math.prod(shape)
        self.left -= cells
        if cells > self.most_cells or cells > shape[0] * MOST_ENTRIES or self.left < 0:
            raise ValueError(f"order: elimination is too wide, {cells} sums at node {o}")
        spread = []
        for table in tables:
            array, extent = self.arrays[table.number], dict.fromkeys((o, *nodes), 1)
            for axis, (v, rows) in enumerate(zip(table.nodes, table.rows, strict=True)):
                index = self.arrays[rows]
                array = array.take(index if v == o else index[label[v]], axis=axis)
                extent[v] = array.shape[axis]
            array = np.moveaxis(array, table.nodes.index(o), 0)
            spread.append(array.reshape(tuple(extent.values())))
        return sorted(spread, key=lambda a: a.size), shape

    # -- a node in parts ---------------------------------------------------------------------------

    def _split(self, o: int, tables: Sequence[Table], split: Split) -> list[tuple[int, Table]]:
        """Return as `_least` for every part, each choosing a label of its own."""
        where, labels = f"splits, node {o}", len(self.domains[o])
        shifts = split.shifts
        if len(shifts) != len(split.parts) or any(len(s) != labels for s in shifts):
            raise ValueError(f"{where}: expected {labels} shifts for each of {len(split.parts)}")
        if any(abs(x) > FORBIDDEN for row in shifts for x in row):
            raise ValueError(f"{where}: shifts are too large for 64 bits")
        groups: list[list[Table]] = [[] for _ in split.parts]
        for table in tables:
            around = {v for v in table.nodes if v != o}
            holds = [group for part, group in zip(split.parts, groups, strict=True)
                     if around.issubset(part)]  # fmt: skip
            if not holds:
                raise ValueError(f"{where}: no part has all of {sorted(around)}")
            holds[0].append(table)
        wholes = []
        for group in groups:
            nodes = _neighbours(o, group)
            classes = self._classes(nodes, group)
            spread, shape = self._spread(o, nodes, group, classes)
            whole = np.broadcast_to(_sum(spread, slice(None), shape), shape)
            wholes.append((nodes, [number for number, _ in classes], whole))
        least = [whole.reshape(labels, -1).min(axis=1) for _, _, whole in wholes]
        lost = (np.stack(least) >= FORBIDDEN).any(axis=0)
        moved = np.array(shifts, dtype=np.int64)
        if (moved.sum(axis=0) > 0)[~lost].any():
            raise ValueError(f"{where}: shifts of a label add up to more than 0")
        found = []
        for (nodes, rows, whole), shift in zip(wholes, moved, strict=True):
            across = (labels, *(1,) * (whole.ndim - 1))
            after = np.minimum(whole + shift.reshape(across), FORBIDDEN)
            after = np.where(lost.reshape(across), FORBIDDEN, after)
            if (after < 0).any():
                raise ValueError(f"{where}: shifts make a cost negative")
            constant, classes_of, number = self._reduced(after.min(axis=0), rows)
            found.append((constant, Table(nodes, classes_of, number)))
        return found


def _neighbours(o: int, tables: Sequence[Table]) -> tuple[int, ...]:
    return tuple(sorted({v for table in tables for v in table.nodes} - {o}))


def _sum(spread: Sequence[Ints], part: slice, shape: tuple[int, ...]) -> Ints:
    """Return the sum of tables for some labels of the node, at most `FORBIDDEN`."""
    total: Ints = np.zeros((1,) * len(shape), dtype=np.int64)
    for array in spread:
        total = np.minimum(total + array[part], FORBIDDEN)
    return total
