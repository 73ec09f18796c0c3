r"""The least cost of an assignment with each label: elimination there and back.

There, each node's tables are added up, and their minimum over the node goes to the first of its
neighbours that is still there. Back, in reverse, a node's sum gets what is known of its neighbours
beyond that minimum: then its entries are the least costs of whole assignments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.memory import MOST_CELLS

from .cost_tables import FORBIDDEN, CostTables, Domains

#: Entries of the tables of all nodes.
MOST_ENTRIES = MOST_CELLS

#: Nodes in ascending order, and a table over their labels.
Table = tuple[tuple[int, ...], Ints]


def least_with_label(costs: CostTables, domains: Domains, order: Sequence[int]) -> list[Ints]:
    """Return for each node the least cost with each of its labels, at most `FORBIDDEN`.

    Raises
    ------
    ValueError
        If the tables would be too large.
    """
    place = {o: at for at, o in enumerate(order)}
    tables: list[list[Table]] = [[] for _ in order]
    for o, number in enumerate(costs.own):
        tables[o].append(((o,), costs.arrays[number][list(domains[o])]))
    for u, v, number, rows, columns in costs.pairs:
        up = costs.arrays[rows][list(domains[u])]
        down = costs.arrays[columns][list(domains[v])]
        whole = costs.arrays[number][np.ix_(up, down)]
        tables[min(u, v, key=place.__getitem__)].append(((u, v), whole))
    sums: dict[int, Table] = {}
    handed: dict[int, Table] = {}
    entries, bound = 0, 0
    for o in order:
        nodes = tuple(sorted({v for scope, _ in tables[o] for v in scope}))
        entries += math.prod(len(domains[v]) for v in nodes)
        if entries > MOST_ENTRIES:
            raise ValueError(f"elimination is too wide, more than {MOST_ENTRIES} entries")
        total: Ints = np.zeros([len(domains[v]) for v in nodes], dtype=np.int64)
        for table in tables[o]:
            total = np.minimum(total + _across(table, nodes), FORBIDDEN)
        rest = tuple(v for v in nodes if v != o)
        sums[o], handed[o] = (nodes, total), (rest, _least(total, nodes, rest))
        if rest:
            tables[min(rest, key=place.__getitem__)].append(handed[o])
        else:
            bound = min(bound + int(handed[o][1]), FORBIDDEN)
    found: dict[int, Ints] = {}
    for o in reversed(order):
        (nodes, total), (rest, least) = sums[o], handed[o]
        known: Ints = np.array(bound)
        if rest:
            scope, whole = sums[min(rest, key=place.__getitem__)]
            known = _least(whole, scope, rest)
        more = np.where(least >= FORBIDDEN, 0, known - least)
        sums[o] = nodes, np.minimum(total + _across((rest, more), nodes), FORBIDDEN)
        found[o] = _least(sums[o][1], nodes, (o,))
    return [found[o] for o in range(len(order))]


def _across(table: Table, nodes: Sequence[int]) -> Ints:
    """Return a table with an axis of one entry for each node that it lacks."""
    extents = dict(zip(table[0], table[1].shape, strict=True))
    return table[1].reshape([extents.get(v, 1) for v in nodes])


def _least(table: Ints, nodes: Sequence[int], kept: Sequence[int]) -> Ints:
    """Return the minimum over all nodes but some."""
    return np.asarray(table.min(axis=tuple(i for i, v in enumerate(nodes) if v not in kept)))
