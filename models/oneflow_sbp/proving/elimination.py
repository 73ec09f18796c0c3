r"""Bucket elimination on a label graph, exact or split into mini-buckets, in 64-bit integers.

Eliminating node o with neighbours N(o) replaces all tables that contain it by one,

.. math:: f(x_{N(o)}) = \min_{x_o} \Big[ \theta_o(x_o) + \sum_{v} \theta_{ov}(x_o, x_v) + \dots
   \Big].

After all nodes, the sum of the constants is the optimum. Where a bucket would take too many sums,
it is split: each part chooses its own copy of the label, and the result is a lower bound
(mini-buckets). Before the minimum, the parts' min-marginals of the label are made equal, which
shifts costs between the parts and changes no sum (moment matching).

Two things make it fast. *Folding*: every new table is reduced by its minimum and stored once by
content, and a bucket of tables that were combined before is looked up, so layers of equal shapes
cost the time of one. *Classes*: labels of a node that a table does not tell apart, such as
signatures that want the same label of a tensor, share one row of it (`classes`).

All entries are non-negative and the sum of the largest finite ones is below `FORBIDDEN`, so a
partial sum that reaches it belongs to no optimal assignment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ..subproblems.graph import (
    FORBIDDEN,
    LabelGraph,
)
from .classes import (
    Factor,
    Joint,
    Store,
)

#: Sums that a bucket may take: entries of the table over the node and its neighbours.
#: Tuned: `benchmarks/constants.py`.
MOST_CELLS = 2**30
#: The same for a part of a bucket that is split, whose table is kept.
#: Tuned: `benchmarks/constants.py`.
MOST_CELLS_OF_PART = 2**20
#: Tables that are added before sums are cut back to `FORBIDDEN`. Tuned: `benchmarks/constants.py`.
_AT_ONCE = 64
#: Above this many entries, labels of the eliminated node are taken one by one.
#: Tuned: `benchmarks/constants.py`.
_SMALL = 2**16


class OutOfTime(Exception):
    """The elimination was given up."""


class TooWide(Exception):
    """The elimination would take too many sums."""


#: Nodes of a table, the class of each of their labels in it, and the table.
Part = tuple[tuple[int, ...], tuple[Ints | None, ...], Ints]


@dataclass(frozen=True)
class Splitting:
    """How a bucket was split.

    Attributes
    ----------
    node : int
    parts : list of tuple of int
        The nodes of each part but this one.
    shifts : int array, shape (parts, labels)
        What was added to each part for each label of the node; 0 where a label is not allowed.
    """

    node: int
    parts: list[tuple[int, ...]]
    shifts: Ints


@dataclass
class Elimination:
    """What an elimination yields.

    Attributes
    ----------
    value : int
        The optimum of the label graph, or a lower bound on it where buckets were split; at least
        `FORBIDDEN` if no assignment is allowed.
    split : list of Splitting
        The buckets that were split.
    sums : int
        Sums that were taken.
    steps : list of (node, parts)
        For every node the parts of its bucket: the best label by those of the other nodes, or,
        where there are several parts, their tables, with this node's axis first.
    """

    value: int = 0
    split: list[Splitting] = field(default_factory=list)
    sums: int = 0
    steps: list[tuple[int, list[Part]]] = field(default_factory=list)

    @property
    def feasible(self) -> bool:
        """True if no label is proved to be missing."""
        return self.value < FORBIDDEN

    def labels(self) -> list[int]:
        """Return an assignment: an optimal one if no bucket was split, else a guess."""
        chosen = [0] * len(self.steps)

        def entry(part: Part) -> tuple[int, ...]:
            around, maps, _ = part
            pairs = zip(around, maps, strict=True)
            return tuple(chosen[v] if m is None else int(m[chosen[v]]) for v, m in pairs)

        for o, parts in reversed(self.steps):
            if len(parts) == 1:
                chosen[o] = int(parts[0][2][entry(parts[0])])
            else:
                columns = [np.moveaxis(part[2], 0, -1)[entry(part)] for part in parts]
                chosen[o] = int(np.argmin(np.sum(columns, axis=0)))
        return chosen


def eliminate(
    graph: LabelGraph,
    order: Sequence[int],
    most_cells: int = MOST_CELLS,
    expired: Callable[[], bool] = lambda: False,
    most_sums: int | None = None,
) -> Elimination:
    """Eliminate all nodes in order.

    Parameters
    ----------
    graph : LabelGraph
    order : sequence of int
        All nodes, each once.
    most_cells : int
        Buckets that would take more sums are split.
    expired : callable, optional
        Asked now and then; the elimination is given up once it returns True.
    most_sums : int, optional
        Of all buckets together, none of which is split then.

    Raises
    ------
    OutOfTime
        If it was given up.
    TooWide
        If it would take more sums than `most_sums`.
    """
    position = [0] * len(order)
    for at, o in enumerate(order):
        position[o] = at
    sizes = [len(d) for d in graph.domains]
    store = Store(graph.tables)
    buckets: list[list[Factor]] = [[((o,), graph.unary[o], (0,))] for o in range(len(order))]
    for u, v, t in graph.edges:
        factor = store.pair(u, v, t)
        buckets[min(factor[0], key=position.__getitem__)].append(factor)
    result = Elimination()
    work = _Buckets(store, sizes, expired, math.inf if most_sums is None else most_sums)
    for at, o in enumerate(order):
        if at % 64 == 0 and expired():
            raise OutOfTime
        groups = _parts(store, buckets[o], o, sizes, most_cells)
        buckets[o] = []
        if most_sums is not None and len(groups) > 1:
            raise TooWide
        if len(groups) == 1:
            constant, message, part = work.minimum(groups[0], o)
            messages, parts = [(constant, message)], [part]
        else:
            messages, parts, shifts = work.minima(groups, o)
            result.split.append(Splitting(o, [around for around, _, _ in parts], shifts))
        result.steps.append((o, parts))
        for constant, message in messages:
            result.value += constant
            if message[0]:
                buckets[min(message[0], key=position.__getitem__)].append(message)
    result.sums = work.sums
    return result


def _parts(
    store: Store, bucket: Sequence[Factor], o: int, sizes: Sequence[int], most_cells: int
) -> list[list[Factor]]:
    """Return the bucket in parts that take few enough sums, larger tables first."""
    if len(bucket) == 1 or _most(bucket, sizes) <= most_cells:
        return [list(bucket)]
    if _cells(store, bucket, o, sizes) <= most_cells:
        return [list(bucket)]
    most_cells = min(most_cells, MOST_CELLS_OF_PART)
    parts: list[list[Factor]] = []
    for factor in sorted(bucket, key=lambda f: (-_cells(store, [f], o, sizes), f[0])):
        for factors in parts:
            if _cells(store, [*factors, factor], o, sizes) <= most_cells:
                factors.append(factor)
                break
        else:
            parts.append([factor])
    return _by_nodes(bucket, parts, o)


def _by_nodes(
    bucket: Sequence[Factor], parts: Sequence[Sequence[Factor]], o: int
) -> list[list[Factor]]:
    """Return the parts of these nodes, each table in the first part that has all of its own."""
    nodes = [{v for scope, _, _ in part for v in scope} for part in parts]
    again: list[list[Factor]] = [[] for _ in parts]
    for factor in bucket:
        again[next(k for k, some in enumerate(nodes) if some.issuperset(factor[0]))].append(factor)
    return [part for part in again if part]


def _most(bucket: Iterable[Factor], sizes: Sequence[int]) -> int:
    """Return the entries of the table over all labels of the nodes."""
    count = 1
    for v in {v for scope, _, _ in bucket for v in scope}:
        count *= sizes[v]
    return count


def _cells(store: Store, factors: Sequence[Factor], o: int, sizes: Sequence[int]) -> int:
    """Return the entries of the table over the classes of the nodes and the labels of o."""
    count = sizes[o]
    for v, maps in _maps_of(factors, o).items():
        count *= store.joint(maps, sizes[v]).classes
    return count


def _maps_of(factors: Iterable[Factor], o: int) -> dict[int, tuple[int, ...]]:
    """Return the distinct maps of every node but o."""
    found: dict[int, set[int]] = {}
    for scope, _, maps in factors:
        for v, m in zip(scope, maps, strict=True):
            if v != o:
                found.setdefault(v, set()).add(m)
    return {v: tuple(sorted(maps)) for v, maps in found.items()}


class _Buckets:
    """Minima of sums of tables, each combination computed once."""

    def __init__(
        self,
        store: Store,
        sizes: Sequence[int],
        expired: Callable[[], bool],
        most_sums: float,
    ):
        self.store, self.sizes, self.expired = store, sizes, expired
        self.most_sums = most_sums
        self.known: dict[object, tuple[int, int, tuple[int, ...], tuple[Joint, ...], Ints]] = {}
        self.sums = 0

    def minimum(self, factors: Sequence[Factor], o: int) -> tuple[int, Factor, Part]:
        """Return the constant and the new table of a bucket, and the best labels of o."""
        nodes = _nodes(factors)
        place = {v: k for k, v in enumerate(nodes)}
        key = (
            place[o],
            self.sizes[o],
            *((t, maps, tuple(place[v] for v in scope)) for scope, t, maps in factors),
        )
        around = tuple(v for v in nodes if v != o)
        if key not in self.known:
            joints = self._joints(factors, o)
            tables, shape = self._spread(factors, nodes, o, joints)
            message, best = self._reduced(tables, shape, place[o])
            constant, message = _normalised(message)
            within = tuple(joints[v] for v in around)
            number, maps = self.store.compressed(message, within)
            self.known[key] = (constant, number, maps, within, best)
        constant, number, maps, within, best = self.known[key]
        part = (around, tuple(joint.map for joint in within), best)
        return constant, (around, number, maps), part

    def minima(
        self, groups: Sequence[Sequence[Factor]], o: int
    ) -> tuple[list[tuple[int, Factor]], list[Part], Ints]:
        """Return as `minimum` for every part, with matched marginals; the tables and the shifts."""
        arounds, tables, joints_of = [], [], []
        for factors in groups:
            nodes = _nodes(factors)
            joints = self._joints(factors, o)
            spread, shape = self._spread(factors, nodes, o, joints)
            total = _sum(spread, shape)
            self.sums += total.size
            around = tuple(v for v in nodes if v != o)
            arounds.append(around)
            joints_of.append(tuple(joints[v] for v in around))
            tables.append(np.ascontiguousarray(np.moveaxis(total, nodes.index(o), 0)))
        matched, shifts = _matched(tables)
        messages, parts = [], []
        for around, joints_here, table in zip(arounds, joints_of, matched, strict=True):
            constant, message = _normalised(table.min(axis=0))
            number, maps = self.store.compressed(message, joints_here)
            messages.append((constant, (around, number, maps)))
            parts.append((around, tuple(joint.map for joint in joints_here), table))
        return messages, parts, shifts

    def _joints(self, factors: Sequence[Factor], o: int) -> dict[int, Joint]:
        return {
            v: self.store.joint(maps, self.sizes[v]) for v, maps in _maps_of(factors, o).items()
        }

    def _spread(
        self, factors: Sequence[Factor], nodes: Sequence[int], o: int, joints: dict[int, Joint]
    ) -> tuple[list[Ints], tuple[int, ...]]:
        """Return tables over the joint classes, with axes of one entry for nodes they lack."""
        shape = tuple(self.sizes[o] if v == o else joints[v].classes for v in nodes)
        spread = []
        for scope, t, maps in factors:
            table = self.store.tables[t]
            for axis, (v, m) in enumerate(zip(scope, maps, strict=True)):
                index = self.store.maps[m] if v == o else joints[v].index[m]
                if index is not None:
                    table = table.take(index, axis=axis)
            if len(scope) < len(nodes):
                extents = dict(zip(scope, table.shape, strict=True))
                table = table.reshape([extents.get(v, 1) for v in nodes])
            spread.append(table)
        return spread, shape

    def _reduced(
        self, tables: Sequence[Ints], shape: tuple[int, ...], axis: int
    ) -> tuple[Ints, Ints]:
        """Return the minimum over an axis of the sum of tables, and where it is."""
        labels = shape[axis]
        kind = np.int8 if labels < 2**7 else np.int32
        cells = math.prod(shape)
        self.sums += cells
        if self.sums > self.most_sums:
            raise TooWide
        if cells <= _SMALL:
            total = _sum(tables, shape)
            best = total.argmin(axis=axis)
            return total.min(axis=axis), best.astype(kind)
        around = shape[:axis] + shape[axis + 1 :]
        least = np.full(around, FORBIDDEN, dtype=np.int64)
        best = np.zeros(around, dtype=kind)
        for x in range(labels):
            if self.expired():
                raise OutOfTime
            slices = [table.take(min(x, table.shape[axis] - 1), axis=axis) for table in tables]
            total = _sum(sorted(slices, key=lambda t: t.size), around)
            better = total < least
            np.copyto(least, total, where=better)
            best[better] = x
        return least, best


def _matched(tables: Sequence[Ints]) -> tuple[list[Ints], Ints]:
    """Return tables whose minima over all but the first axis are equal, with the same sum.

    Also what was added to each for each entry of the first axis, 0 where one is not allowed.
    """
    marginals = np.stack([t.reshape(len(t), -1).min(axis=1) for t in tables])
    allowed = (marginals < FORBIDDEN).all(axis=0)
    sums = np.where(allowed, marginals, 0).sum(axis=0)
    count = len(tables)
    matched, shifts = [], []
    for k, table in enumerate(tables):
        target = sums // count + (k < sums % count)
        shift = np.where(allowed, target - marginals[k], FORBIDDEN)
        shifts.append(np.where(allowed, shift, 0))
        moved = table + shift.reshape(-1, *(1,) * (table.ndim - 1))
        matched.append(np.where(table >= FORBIDDEN, FORBIDDEN, np.minimum(moved, FORBIDDEN)))
    return matched, np.stack(shifts)


def _nodes(factors: Sequence[Factor]) -> tuple[int, ...]:
    if len(factors) == 1:
        return factors[0][0]
    return tuple(sorted({v for scope, _, _ in factors for v in scope}))


def _sum(tables: Sequence[Ints], shape: tuple[int, ...]) -> Ints:
    """Return the sum, smaller tables added to each other first."""
    small: Ints = np.zeros((1,) * len(shape), dtype=np.int64)
    for k, table in enumerate(tables):
        small = small + table
        if k % _AT_ONCE == _AT_ONCE - 2:
            small = np.minimum(small, FORBIDDEN)
    total = np.minimum(small, FORBIDDEN)
    return total if total.shape == shape else np.broadcast_to(total, shape)


def _normalised(message: Ints) -> tuple[int, Ints]:
    """Return the minimum of a table, and the table less it; forbidden entries stay so."""
    constant = int(message.min())
    if constant == 0:
        return 0, message
    if constant >= FORBIDDEN:
        return FORBIDDEN, message - constant
    return constant, np.where(message >= FORBIDDEN, FORBIDDEN, message - constant)
