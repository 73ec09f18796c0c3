r"""Min-marginals of a label graph by elimination there and back, and labels that they rule out.

The min-marginal of a label is the least value of an assignment with it,

.. math:: \mu_o(k) = \min_{x :\ x_o = k} \theta(x).

Buckets are eliminated in order, each handing the minimum of its table over its node to a later
bucket. Back in reverse order, a bucket's table gets what the later one knows beyond that minimum:
its entries are then the least values of whole assignments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.memory import MOST_CELLS as TABLE_CELLS

from ..subproblems.graph import (
    FORBIDDEN,
    LabelGraph,
)
from .elimination import TooWide

#: Entries of the tables of all buckets.
MOST_CELLS = TABLE_CELLS

#: Nodes in ascending order, and a table over their labels.
_Table = tuple[tuple[int, ...], Ints]


@dataclass
class _Bucket:
    """The sum of a node's tables, and where its minimum over the node goes.

    Attributes
    ----------
    nodes : tuple of int
        Ascending.
    table : int array
        First the sum, on the way back the least values of whole assignments.
    around : tuple of int
        The nodes but its own.
    message : int array
        Over `around`.
    """

    nodes: tuple[int, ...]
    table: Ints
    around: tuple[int, ...]
    message: Ints


def min_marginals(graph: LabelGraph, order: Sequence[int]) -> list[Ints]:
    """Return the least value of an assignment with each label of each node.

    Parameters
    ----------
    graph : LabelGraph
    order : sequence of int
        All nodes, each once.

    Returns
    -------
    list of int arrays
        One entry a label; at least `FORBIDDEN` where no assignment is allowed.

    Raises
    ------
    TooWide
        If the buckets' tables have more than `MOST_CELLS` entries.
    """
    position = {o: at for at, o in enumerate(order)}
    tables: list[list[_Table]] = [[((o,), graph.tables[t])] for o, t in enumerate(graph.unary)]
    for u, v, t in graph.edges:
        tables[min(u, v, key=position.__getitem__)].append(((u, v), graph.tables[t]))
    buckets: dict[int, _Bucket] = {}
    cells, value = 0, 0
    for o in order:
        bucket = _bucket(tables[o], o, MOST_CELLS - cells)
        buckets[o] = bucket
        cells += bucket.table.size
        if bucket.around:
            after = min(bucket.around, key=position.__getitem__)
            tables[after].append((bucket.around, bucket.message))
        else:
            value = min(value + int(bucket.message), FORBIDDEN)
    marginals: dict[int, Ints] = {}
    for o in reversed(order):
        bucket = buckets[o]
        if bucket.around:
            later = buckets[min(bucket.around, key=position.__getitem__)]
            known = _minimum(later.table, later.nodes, bucket.around)
            more = np.where(bucket.message >= FORBIDDEN, 0, known - bucket.message)
        else:
            more = np.array(value - int(bucket.message))
        spread = _spread((bucket.around, more), bucket.nodes)
        bucket.table = np.minimum(bucket.table + spread, FORBIDDEN)
        marginals[o] = _minimum(bucket.table, bucket.nodes, (o,))
    return [marginals[o] for o in range(len(order))]


def below(
    graph: LabelGraph, order: Sequence[int], multipliers: Sequence[int], cutoff: int
) -> dict[int, tuple[int, ...]] | None:
    r"""Return the positions of labels that an assignment of cost below a cutoff may have.

    A label is ruled out if its min-marginal, with memory priced in, reaches the cutoff.

    Parameters
    ----------
    graph : LabelGraph
    order : sequence of int
    multipliers : sequence of int
        Of every placement.
    cutoff : int
        Times scale.

    Returns
    -------
    dict or None
        Of the nodes that lose labels. None if some node loses all: no assignment is below.
    """
    price = sum(multipliers) * (graph.limit_bytes or 0)
    most = min(cutoff + price, FORBIDDEN)
    kept = {}
    for o, marginal in enumerate(min_marginals(graph.priced(multipliers), order)):
        positions = tuple(np.flatnonzero(marginal < most).tolist())
        if not positions:
            return None
        if len(positions) < len(marginal):
            kept[o] = positions
    return kept


def _bucket(tables: Sequence[_Table], o: int, most_cells: int) -> _Bucket:
    """Return the sum of tables, and its minimum over node o."""
    extents: dict[int, int] = {}
    for nodes, table in tables:
        extents.update(zip(nodes, table.shape, strict=True))
    nodes = tuple(sorted(extents))
    if np.prod([extents[v] for v in nodes], dtype=object) > most_cells:
        raise TooWide
    total: Ints = np.zeros([extents[v] for v in nodes], dtype=np.int64)
    for part in tables:
        total = np.minimum(total + _spread(part, nodes), FORBIDDEN)
    return _Bucket(nodes, total, tuple(v for v in nodes if v != o), total.min(axis=nodes.index(o)))


def _spread(table: _Table, nodes: Sequence[int]) -> Ints:
    """Return a table with axes of one entry for the nodes that it lacks."""
    extents = dict(zip(table[0], table[1].shape, strict=True))
    return table[1].reshape([extents.get(v, 1) for v in nodes])


def _minimum(table: Ints, nodes: Sequence[int], kept: Sequence[int]) -> Ints:
    """Return the minimum over all nodes but these."""
    return np.asarray(table.min(axis=tuple(i for i, v in enumerate(nodes) if v not in kept)))
