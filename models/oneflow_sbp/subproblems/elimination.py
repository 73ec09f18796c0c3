r"""Bucket elimination on a label graph, exact or split into mini-buckets, in 64-bit integers.

Eliminating node o with neighbours N(o) replaces all tables that contain it by one,

.. math:: f(x_{N(o)}) = \min_{x_o} \Big[ \theta_o(x_o) + \sum_{v} \theta_{ov}(x_o, x_v) + \dots
   \Big].

After all nodes, the sum of the constants is the optimum. Where the table would be too large, the
bucket is split: each part chooses its own copy of the label, and the sum is a lower bound
(mini-buckets). Before the minimum, the parts' min-marginals of the label are made equal, which
shifts costs between the parts and changes no sum (moment matching).

Folding: every new table is reduced by its minimum and stored once by content, and a bucket of
tables that were combined before is looked up. Layers of equal shapes thus cost the time of one.

All entries are non-negative and the sum of the largest finite ones is below `FORBIDDEN`, so a
partial sum that reaches it belongs to no optimal assignment.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gadgetopt.numbers.arrays import Ints

from .label_graph import FORBIDDEN, LabelGraph

#: Sums that a bucket may take: entries of the table over the node and its neighbours.
MOST_CELLS = 2**28
#: The same for a part of a bucket that is split, whose table is kept.
MOST_CELLS_OF_PART = 2**20
#: Tables that are added before sums are cut back to `FORBIDDEN`.
_AT_ONCE = 64
#: Above this many entries, labels of the eliminated node are taken one by one.
_SMALL = 2**16

#: Nodes of a table, ascending, and its number.
Factor = tuple[tuple[int, ...], int]


class OutOfTime(Exception):
    """The elimination was given up."""


@dataclass
class Elimination:
    """What an elimination yields.

    Attributes
    ----------
    value : int
        The optimum of the label graph, or a lower bound on it where buckets were split; at least
        `FORBIDDEN` if no assignment is allowed.
    split : list of int
        Nodes whose buckets were split.
    steps : list of (node, parts)
        For every node the parts of its bucket, each with the nodes of its table without this one:
        the best label by their labels, or the table itself where there are several parts.
    """

    value: int = 0
    split: list[int] = field(default_factory=list)
    steps: list[tuple[int, list[tuple[tuple[int, ...], Ints]]]] = field(default_factory=list)

    @property
    def feasible(self) -> bool:
        """True if no label is proved to be missing."""
        return self.value < FORBIDDEN

    def labels(self) -> list[int]:
        """Return an assignment: an optimal one if no bucket was split, else a guess."""
        chosen = [0] * len(self.steps)
        for o, parts in reversed(self.steps):
            if len(parts) == 1:
                around, best = parts[0]
                chosen[o] = int(best[tuple(chosen[v] for v in around)])
            else:
                total: Ints = sum(  # type: ignore[assignment]
                    table[(slice(None), *(chosen[v] for v in around))] for around, table in parts
                )
                chosen[o] = int(np.argmin(total))
        return chosen


class _Tables:
    """Tables by number; equal ones have one number."""

    def __init__(self, tables: Sequence[Ints]):
        self.tables = list(tables)
        self.numbers: dict[tuple[tuple[int, ...], bytes], int] = {}
        self.combined: dict[object, tuple[int, int, Ints]] = {}

    def number(self, table: Ints) -> int:
        content = table.tobytes()
        if len(content) > 64:
            content = hashlib.blake2b(content, digest_size=24).digest()
        key = (table.shape, content)
        if key not in self.numbers:
            self.numbers[key] = len(self.tables)
            self.tables.append(table)
        return self.numbers[key]


def eliminate(
    graph: LabelGraph,
    order: Sequence[int],
    most_cells: int = MOST_CELLS,
    expired: Callable[[], bool] = lambda: False,
) -> Elimination:
    """Eliminate all nodes in order.

    Parameters
    ----------
    graph : LabelGraph
    order : sequence of int
        All nodes, each once.
    most_cells : int
        Buckets whose tables, the node's own axis included, would be larger are split.
    expired : callable, optional
        Asked now and then; the elimination is given up once it returns True.

    Raises
    ------
    OutOfTime
        If it was given up.
    """
    position = [0] * len(order)
    for at, o in enumerate(order):
        position[o] = at
    sizes = [len(d) for d in graph.domains]
    store = _Tables(graph.tables)
    buckets: list[list[Factor]] = [[((o,), graph.unary[o])] for o in range(len(order))]
    for u, v, t in graph.edges:
        scope, number = _without_single(store, (u, v), t, sizes)
        buckets[min(scope, key=position.__getitem__)].append((scope, number))
    result = Elimination()
    for at, o in enumerate(order):
        if at % 64 == 0 and expired():
            raise OutOfTime
        groups = _parts(buckets[o], sizes, most_cells)
        buckets[o] = []
        if len(groups) == 1:
            messages = [_minimum(store, groups[0], o, sizes)]
            result.steps.append((o, [(messages[0][0], messages[0][3])]))
        else:
            result.split.append(o)
            messages, tables = _minima(store, groups, o, sizes)
            result.steps.append((o, tables))
        for around, constant, table, _ in messages:
            result.value += constant
            if around:
                first = min(around, key=position.__getitem__)
                buckets[first].append((around, table))
    return result


def _without_single(
    store: _Tables, scope: tuple[int, int], number: int, sizes: Sequence[int]
) -> Factor:
    """Return the table of a pair without a node that has one label only."""
    u, v = scope
    table = store.tables[number]
    if sizes[u] == 1:
        return (v,), store.number(table[0])
    if sizes[v] == 1:
        return (u,), store.number(np.ascontiguousarray(table[:, 0]))
    return scope, number


def _parts(bucket: Sequence[Factor], sizes: Sequence[int], most_cells: int) -> list[list[Factor]]:
    """Return the bucket in parts whose tables are small enough, larger tables first."""
    whole = {v for scope, _ in bucket for v in scope}
    if len(bucket) == 1 or _cells(whole, sizes) <= most_cells:
        return [list(bucket)]
    most_cells = min(most_cells, MOST_CELLS_OF_PART)
    parts: list[tuple[set[int], list[Factor]]] = []
    for factor in sorted(bucket, key=lambda f: (-_cells(f[0], sizes), f[0])):
        for nodes, factors in parts:
            if _cells(nodes.union(factor[0]), sizes) <= most_cells:
                nodes.update(factor[0])
                factors.append(factor)
                break
        else:
            parts.append((set(factor[0]), [factor]))
    return [factors for _, factors in parts]


def _cells(nodes: Iterable[int], sizes: Sequence[int]) -> int:
    """Return the entries of the table over these nodes."""
    count = 1
    for v in nodes:
        count *= sizes[v]
    return count


def _minimum(
    store: _Tables, factors: Sequence[Factor], o: int, sizes: Sequence[int]
) -> tuple[tuple[int, ...], int, int, Ints]:
    """Return the nodes of the new table, its minimum, its number, and the best labels of o."""
    nodes = _nodes(factors)
    around = tuple(v for v in nodes if v != o)
    place = {v: k for k, v in enumerate(nodes)}
    key = (place[o], tuple((t, tuple(place[v] for v in scope)) for scope, t in factors))
    if key not in store.combined:
        shape = tuple(sizes[v] for v in nodes)
        tables = [_spread(store, factor, nodes, shape) for factor in factors]
        message, best = _reduced(tables, shape, place[o])
        constant, message = _normalised(message)
        store.combined[key] = (constant, store.number(message), best)
    return (around, *store.combined[key])


def _minima(
    store: _Tables, groups: Sequence[Sequence[Factor]], o: int, sizes: Sequence[int]
) -> tuple[list[tuple[tuple[int, ...], int, int, Ints]], list[tuple[tuple[int, ...], Ints]]]:
    """Return as `_minimum` for every part, with matched marginals, and the parts' tables."""
    arounds, tables = [], []
    for factors in groups:
        nodes = _nodes(factors)
        shape = tuple(sizes[v] for v in nodes)
        total = _sum([_spread(store, factor, nodes, shape) for factor in factors], shape)
        arounds.append(tuple(v for v in nodes if v != o))
        tables.append(np.ascontiguousarray(np.moveaxis(total, nodes.index(o), 0)))
    marginals = np.stack([t.reshape(sizes[o], -1).min(axis=1) for t in tables])
    allowed = (marginals < FORBIDDEN).all(axis=0)
    sums = np.where(allowed, marginals, 0).sum(axis=0)
    count = len(tables)
    messages, matched = [], []
    for k, table in enumerate(tables):
        target = sums // count + (k < sums % count)
        shift = np.where(allowed, target - marginals[k], FORBIDDEN)
        column = shift.reshape(-1, *(1,) * (table.ndim - 1))
        moved = np.where(table >= FORBIDDEN, FORBIDDEN, np.minimum(table + column, FORBIDDEN))
        matched.append((arounds[k], moved))
        constant, message = _normalised(moved.min(axis=0))
        messages.append((arounds[k], constant, store.number(message), message))
    return messages, matched


def _nodes(factors: Sequence[Factor]) -> tuple[int, ...]:
    if len(factors) == 1:
        return factors[0][0]
    return tuple(sorted({v for scope, _ in factors for v in scope}))


def _spread(store: _Tables, factor: Factor, nodes: Sequence[int], shape: Sequence[int]) -> Ints:
    """Return a table with an axis of one entry for every node that it does not contain."""
    scope, number = factor
    table = store.tables[number]
    if len(scope) == len(nodes):
        return table
    inside = set(scope)
    return table.reshape([n if v in inside else 1 for v, n in zip(nodes, shape, strict=True)])


def _sum(tables: Sequence[Ints], shape: tuple[int, ...]) -> Ints:
    total = np.zeros(shape, dtype=np.int64)
    for k, table in enumerate(tables):
        total += table
        if k % _AT_ONCE == _AT_ONCE - 2:
            np.minimum(total, FORBIDDEN, out=total)
    return np.minimum(total, FORBIDDEN, out=total)


def _reduced(tables: Sequence[Ints], shape: tuple[int, ...], axis: int) -> tuple[Ints, Ints]:
    """Return the minimum over an axis of the sum of tables, and where it is."""
    labels = shape[axis]
    kind = np.int8 if labels < 2**7 else np.int32
    cells = 1
    for n in shape:
        cells *= n
    if cells <= _SMALL:
        total = _sum(tables, shape)
        best = total.argmin(axis=axis)
        return total.min(axis=axis), best.astype(kind)
    around = shape[:axis] + shape[axis + 1 :]
    least = np.full(around, FORBIDDEN, dtype=np.int64)
    best = np.zeros(around, dtype=kind)
    for x in range(labels):
        slices = [table.take(min(x, table.shape[axis] - 1), axis=axis) for table in tables]
        total = _sum(slices, around)
        better = total < least
        np.copyto(least, total, where=better)
        best[better] = x
    return least, best


def _normalised(message: Ints) -> tuple[int, Ints]:
    """Return the minimum of a table, and the table less it; forbidden entries stay so."""
    constant = int(message.min())
    if constant == 0:
        return 0, message
    if constant >= FORBIDDEN:
        return FORBIDDEN, message - constant
    return constant, np.where(message >= FORBIDDEN, FORBIDDEN, message - constant)
