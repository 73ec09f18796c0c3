r"""What an instance costs, as whole numbers in tables: the reading of the checks.

.. math:: \min_x\ \sum_o \theta_o(x_o) + \sum_{(u, v)} \theta_{uv}(x_u, x_v)

The first nodes are the operators, and their labels the numbers of their signatures. Under shared
boxing there is a further node for every tensor, group of devices and label that two uses or more
may want, unless that conversion costs nothing: label 1 is "converted", label 0 "not". They are
numbered by the first use of the tensor on the group, then by the first signature that wants the
label.

Costs are multiplied by a scale and rounded down. A forbidden pair of labels has `FORBIDDEN`; the
largest finite entries of all tables together are below it. So whatever costs as much is forbidden,
and sums of 64 entries fit 64 bits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ...instance import OneFlowSbpInstance
from ...labels import Label
from ...tables import Edge

#: A forbidden entry. By definition.
FORBIDDEN = 2**56

#: The labels of every node that are looked at, ascending.
Domains = list[tuple[int, ...]]


class Arrays:
    """Arrays by number; equal ones have one number."""

    def __init__(self) -> None:
        self.list: list[Ints] = []
        self._number: dict[object, int] = {}

    def __getitem__(self, number: int) -> Ints:
        return self.list[number]

    def number(self, array: Ints) -> int:
        """Return the number of an array."""
        found = self._number.setdefault((array.shape, array.tobytes()), len(self.list))
        if found == len(self.list):
            self.list.append(array)
        return found


class Pair(NamedTuple):
    """A table over two nodes, u < v, and the row and the column of each of their labels."""

    u: int
    v: int
    table: int
    rows: int
    columns: int


@dataclass(frozen=True)
class CostTables:
    """Costs on nodes and pairs of nodes; arrays are given by number.

    Attributes
    ----------
    arrays : Arrays
    allowed : Domains
        Labels that pins leave.
    own : list of int
        Costs of every node's labels.
    pairs : list of Pair
    memory : list of int
        Bytes of every node's labels on a device; what does not fit alone is a byte too much.
    groups : list of int
        Placement of every node, -1 of one that is no operator.
    limit_bytes : int or None
    """

    arrays: Arrays
    allowed: Domains
    own: list[int]
    pairs: list[Pair]
    memory: list[int]
    groups: list[int]
    limit_bytes: int | None

    def priced(self, prices: Sequence[int]) -> CostTables:
        """Return the tables whose nodes pay for memory: a price a byte of each placement.

        Raises
        ------
        ValueError
            If the costs are too large.
        """
        own = list(self.own)
        made: dict[tuple[int, int, int], int] = {}
        for o, group in enumerate(self.groups):
            price = prices[group] if group >= 0 else 0
            key = (own[o], self.memory[o], price)
            if price and key not in made:
                memory = self.arrays[self.memory[o]]
                if price * int(memory.max()) >= FORBIDDEN:
                    raise ValueError("multipliers: too large for 64 bits")
                made[key] = self.arrays.number(self.arrays[own[o]] + price * memory)
            own[o] = made.get(key, own[o])
        priced = replace(self, own=own)
        if priced.largest() >= FORBIDDEN:
            raise ValueError("multipliers: too large for 64 bits")
        return priced

    def memory_of(self, group: int) -> CostTables:
        """Return the tables whose costs are the bytes on a device of a placement."""
        free = {p.table: self.arrays[p.table] // FORBIDDEN * FORBIDDEN for p in self.pairs}
        number = {t: self.arrays.number(table) for t, table in free.items()}
        own = [
            m if g == group else self.arrays.number(np.zeros_like(self.arrays[m]))
            for m, g in zip(self.memory, self.groups, strict=True)
        ]
        return replace(self, own=own, pairs=[p._replace(table=number[p.table]) for p in self.pairs])

    def largest(self) -> int:
        """Return the sum of the largest entries of nodes and the largest finite ones of pairs."""
        of_nodes = {number: int(self.arrays[number].max()) for number in set(self.own)}
        of_pairs = {table: _finite(self.arrays[table]) for table in {p.table for p in self.pairs}}
        nodes = sum(of_nodes[number] for number in self.own)
        return nodes + sum(of_pairs[pair.table] for pair in self.pairs)


def cost_tables(instance: OneFlowSbpInstance, scale: Fraction) -> CostTables:
    """Return the tables of an instance: costs times a scale, rounded down.

    Raises
    ------
    ValueError
        If the scale is too large.
    """
    read = _Reading(instance, scale).tables()
    if read.largest() >= FORBIDDEN:
        raise ValueError("scale: costs times this are too large for 64 bits")
    return read


class _Reading:
    """Reads nodes and pairs; those of equal classes have one table."""

    def __init__(self, instance: OneFlowSbpInstance, scale: Fraction):
        self.instance, self.of, self.scale = instance, instance.tables, scale
        self.arrays = Arrays()
        self.allowed: Domains = []
        self.pairs: list[Pair] = []
        self.own: list[int] = []
        self.made: dict[Hashable, tuple[int, int, int]] = {}

    def tables(self) -> CostTables:
        memory, groups, limit = [], [], self.instance.memory_limit_bytes
        most = FORBIDDEN - 1 if limit is None else limit + 1
        read: dict[Hashable, tuple[tuple[int, ...], int, int]] = {}
        for o, c in enumerate(self.of.class_of):
            made, (_, pin), key = self.of.classes[c], self._key(o), self._key(o)
            if key not in read:
                every = range(len(made.signatures))
                allowed = tuple(k for k in every if pin in (None, made.signatures[k].output))
                costs = self._whole(made.compute[k] if k in allowed else Fraction(0) for k in every)
                bytes_ = (min(made.memory_bytes[k], most) if k in allowed else 0 for k in every)
                held = self.arrays.number(_ints(bytes_))
                read[key] = allowed, self.arrays.number(costs), held
            allowed, own, held = read[key]
            self.allowed.append(allowed)
            self.own.append(own)
            memory.append(held)
            groups.append(made.group)
        for a, b in self.of.ties:
            if a != b:
                self._add_tie(min(a, b), max(a, b))
        uses: dict[tuple[int, int], list[Edge]] = defaultdict(list)
        for edge in self.of.edges:
            if self.instance.shared_boxing and not edge.tied:
                uses[edge.source, self._group(edge)].append(edge)
            else:
                self._add_edge(edge, ())
        for (source, group), edges in uses.items():
            self._add_shared(source, group, edges)
        more = len(self.own) - len(memory)
        memory += [self.arrays.number(_ints([0, 0]))] * more
        groups += [-1] * more
        return CostTables(self.arrays, self.allowed, self.own, self.pairs, memory, groups, limit)

    def _output(self, o: int, k: int) -> Label:
        return self.of.signatures[o][k].output

    def _wanted(self, edge: Edge, k: int) -> Label:
        return self.of.signatures[edge.target][k].inputs[edge.slot]

    def _group(self, edge: Edge) -> int:
        return self.of.classes[self.of.class_of[edge.target]].group

    def _cost(self, source: int, group: int, have: Label, want: Label) -> Fraction | None:
        made = self.of.classes[self.of.class_of[source]]
        return self.of.conversion_cost(made, group, have, want)

    def _key(self, o: int) -> tuple[int, Label | None]:
        return self.of.class_of[o], self.of.pinned.get(o)

    def _add_tie(self, u: int, v: int) -> None:
        def outputs(o: int) -> dict[int, Label]:
            return {k: self._output(o, k) for k in self.allowed[o]}

        key = ("tie", self._key(u), self._key(v))
        self._add(u, v, key, outputs(u), outputs(v), lambda a, b: _free_if(a == b))

    def _add_edge(self, edge: Edge, free: Sequence[Label]) -> None:
        u, v = edge.source, edge.target
        key = (self._key(u), self._key(v), edge.slot, edge.tied, tuple(free))
        if key in self.made:
            self.pairs.append(Pair(u, v, *self.made[key]))
            return
        held, wanted = self.of.held(edge), self.of.wanted(edge)
        have = {k: held[k] for k in self.allowed[u]}
        want = {k: wanted[k] for k in self.allowed[v]}
        costs = self.of.edge_costs(edge, set(have.values()), set(want.values()))

        def cost(a: Label, b: Label) -> Fraction | None:
            if edge.tied and a != b:
                return None
            return Fraction(0) if b in free else costs[a, b]

        self._add(u, v, key, have, want, cost)

    def _add_shared(self, source: int, group: int, edges: Sequence[Edge]) -> None:
        """Add a node for every label that is converted to once for all, and the edges."""
        wanted: dict[Label, list[Edge]] = defaultdict(list)
        for edge in edges:
            for b in dict.fromkeys(self._wanted(edge, k) for k in self.allowed[edge.target]):
                wanted[b].append(edge)
        have = {k: self._output(source, k) for k in self.allowed[source]}
        free = [
            b
            for b, its in wanted.items()
            if len(its) > 1 and any(self._cost(source, group, a, b) for a in have.values())
        ]
        for b in free:
            z = len(self.own)
            self.own.append(self.arrays.number(_ints([0, 0])))
            self.allowed.append((0, 1))

            def convert(a: Label, done: int, b: Label = b) -> Fraction | None:
                return self._cost(source, group, a, b) if done else Fraction(0)

            self._add(source, z, (self._key(source), group, b), have, {0: 0, 1: 1}, convert)
            for edge in wanted[b]:
                wants = {k: self._wanted(edge, k) == b for k in self.allowed[edge.target]}
                key = ("wants", self._key(edge.target), edge.slot, b)
                self._add(edge.target, z, key, wants, {0: 0, 1: 1}, _free_unless_missing)
        for edge in edges:
            self._add_edge(edge, free)

    def _add(
        self,
        u: int,
        v: int,
        key: Hashable,
        rows: Mapping[int, object],
        columns: Mapping[int, object],
        cost: Callable[..., Fraction | None],
    ) -> None:
        """Add a pair: what its labels stand for, and the cost of two of those."""
        if key not in self.made:
            up, down = list(dict.fromkeys(rows.values())), list(dict.fromkeys(columns.values()))
            table = np.array([self._whole(cost(a, b) for b in down) for a in up])
            self.made[key] = (
                self.arrays.number(table),
                self.arrays.number(_places(rows, up)),
                self.arrays.number(_places(columns, down)),
            )
        self.pairs.append(Pair(u, v, *self.made[key]))

    def _whole(self, costs: Iterable[Fraction | None]) -> Ints:
        """Return costs times the scale; `FORBIDDEN` for None and for nothing else."""
        up, down = self.scale.numerator, self.scale.denominator
        whole = [None if c is None else c.numerator * up // (c.denominator * down) for c in costs]
        if any(c is not None and c >= FORBIDDEN for c in whole):
            raise ValueError("scale: costs times this are too large for 64 bits")
        return _ints(FORBIDDEN if c is None else c for c in whole)


def _finite(table: Ints) -> int:
    """Return the largest entry that is not forbidden."""
    return int(table.max(where=table < FORBIDDEN, initial=0))


def _free_if(allowed: object) -> Fraction | None:
    return Fraction(0) if allowed else None


def _free_unless_missing(wanted: bool, converted: int) -> Fraction | None:
    return _free_if(converted or not wanted)


def _places(stands_for: Mapping[int, object], listed: list[object]) -> Ints:
    """Return for every label the place of what it stands for; 0 for labels that are not there."""
    place = {value: i for i, value in enumerate(listed)}
    return _ints(place[stands_for[k]] if k in stands_for else 0 for k in range(max(stands_for) + 1))


def _ints(numbers: Iterable[int]) -> Ints:
    return np.array(list(numbers), dtype=np.int64)
