r"""An instance as a label graph: integer tables on nodes and on pairs of nodes.

.. math:: \min_x\ \sum_o \theta_o(x_o) + \sum_{(u, v)} \theta_{uv}(x_u, x_v)

The nodes are the operators, and their labels the allowed signatures. Costs are multiplied by a
common denominator and are whole numbers; where these do not fit 64 bits, they are rounded down, so
that every minimum stays a lower bound. Nodes and pairs of equal classes share their tables.

Under shared boxing, a tensor that several consumers may want under one label b gets an auxiliary
node z with the labels "not converted" and "converted": the pair (producer, z) costs
:math:`R(a, b)` where z is converted, and a pair (z, consumer) forbids to want b where it is not.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ..instance import OneFlowSbpInstance
from ..labels import Label
from ..tables import Edge, Tables
from .graph import FORBIDDEN, LARGEST, LabelGraph

_Row = tuple[Fraction | None, ...]
_Table = tuple[_Row, ...]


def label_graph(instance: OneFlowSbpInstance) -> LabelGraph:
    """Return the label graph of an instance, without its memory limit."""
    return _Builder(instance).graph()


class _Builder:
    """Collects tables of exact costs, then turns them into integers of one scale."""

    def __init__(self, instance: OneFlowSbpInstance):
        self.instance = instance
        self.tables: Tables = instance.tables
        self.number_of: dict[Hashable, int] = {}
        self.exact_tables: list[_Table | _Row] = []
        self.uses: list[int] = []
        self.domains: list[tuple[int, ...]] = []
        self.node_keys: list[tuple[int, int]] = []
        self.domain_ids: dict[tuple[int, ...], int] = {}
        self.unary: list[int] = []
        self.edges: list[tuple[int, int, int]] = []

    def graph(self) -> LabelGraph:
        memory_rows: dict[tuple[int, int], int] = {}
        whole: list[Ints] = []
        memory = []
        self._add_operators()
        self._add_ties()
        if self.instance.shared_boxing:
            self._add_shared_edges()
        else:
            for edge in self.tables.edges:
                self._add_edge(edge)
        scale, exact = self._scale()
        arrays = [_integers(t, scale) for t in self.exact_tables]
        limit = self.instance.memory_limit_bytes
        # What does not fit alone counts as a byte too much, so that sums fit 64 bits.
        most = LARGEST if limit is None else limit + 1
        for o, domain in enumerate(self.domains):
            key = self.node_keys[o]
            if key not in memory_rows:
                memory_rows[key] = len(arrays) + len(whole)
                kept = (
                    [min(self.tables.classes[key[0]].memory_bytes[k], most) for k in domain]
                    if key[0] >= 0
                    else [0] * len(domain)
                )
                whole.append(np.array(kept, dtype=np.int64))
            memory.append(memory_rows[key])
        groups = [self.tables.classes[c].group if c >= 0 else -1 for c, _ in self.node_keys]
        return LabelGraph(
            domains=self.domains,
            unary=self.unary,
            edges=self.edges,
            tables=[*arrays, *whole],
            scale=scale,
            exact=exact,
            memory=memory,
            groups=groups,
            limit_bytes=limit,
            operators=len(self.tables.class_of),
        )

    # -- nodes -------------------------------------------------------------------------------------

    def _add_operators(self) -> None:
        everything: dict[int, tuple[int, ...]] = {}
        for o, c in enumerate(self.tables.class_of):
            signatures = self.tables.classes[c].signatures
            if o in self.tables.pinned:
                label = self.tables.pinned[o]
                domain = tuple(k for k, s in enumerate(signatures) if s.output == label)
            else:
                domain = everything.setdefault(c, tuple(range(len(signatures))))
            self._add_node(c, domain, partial(self._compute, c, domain))

    def _compute(self, c: int, domain: Sequence[int]) -> _Row:
        return tuple(self.tables.classes[c].compute[k] for k in domain)

    def _add_node(self, c: int, domain: tuple[int, ...], row: Callable[[], _Row]) -> int:
        key = (c, self.domain_ids.setdefault(domain, len(self.domain_ids)))
        self.domains.append(domain)
        self.node_keys.append(key)
        self.unary.append(self._table(("unary", *key), row))
        return len(self.domains) - 1

    def _table(self, key: Hashable, make: Callable[[], _Table | _Row]) -> int:
        if key not in self.number_of:
            self.number_of[key] = len(self.exact_tables)
            self.exact_tables.append(make())
            self.uses.append(0)
        number = self.number_of[key]
        self.uses[number] += 1
        return number

    # -- pairs -------------------------------------------------------------------------------------

    def _add_edge(self, edge: Edge) -> None:
        key = ("edge", self.node_keys[edge.source], self.node_keys[edge.target], *edge[2:])
        number = self._table(key, lambda: self._conversions(edge))
        self.edges.append((edge.source, edge.target, number))

    def _conversions(self, edge: Edge, free: frozenset[Label] = frozenset()) -> _Table:
        """Return the costs of an edge; wanted labels that are free cost nothing."""
        costs = self.tables.conversions(edge)
        have = [self.tables.signatures[edge.source][k].output for k in self.domains[edge.source]]
        want = [
            self.tables.signatures[edge.target][k].inputs[edge.slot]
            for k in self.domains[edge.target]
        ]
        rows = zip(self.domains[edge.source], have, strict=True)
        return tuple(
            tuple(
                Fraction(0) if b in free else None if edge.tied and a != b else costs[k][j]
                for j, b in zip(self.domains[edge.target], want, strict=True)
            )
            for k, a in rows
        )

    def _add_ties(self) -> None:
        for a, b in self.tables.ties:
            u, v = min(a, b), max(a, b)
            if u == v:
                continue
            key = ("tie", self.node_keys[u], self.node_keys[v])
            self.edges.append((u, v, self._table(key, partial(self._tie, u, v))))

    def _tie(self, u: int, v: int) -> _Table:
        first, second = self.tables.signatures[u], self.tables.signatures[v]
        return tuple(
            tuple(
                Fraction(0) if first[k].output == second[j].output else None
                for j in self.domains[v]
            )
            for k in self.domains[u]
        )

    def _add_shared_edges(self) -> None:
        uses: dict[tuple[int, int], list[Edge]] = defaultdict(list)
        for edge in self.tables.edges:
            group = self.tables.classes[self.tables.class_of[edge.target]].group
            if edge.tied:
                self._add_edge(edge)
            else:
                uses[edge.source, group].append(edge)
        for (source, group), edges in uses.items():
            self._share(source, group, edges)

    def _share(self, source: int, group: int, edges: Sequence[Edge]) -> None:
        wanted: dict[Label, int] = defaultdict(int)
        for edge in edges:
            for b in dict.fromkeys(self._wanted(edge, k) for k in self.domains[edge.target]):
                wanted[b] += 1
        key = self.node_keys[source]
        shared = []
        for b, times in wanted.items():
            row = self._row_to(source, group, b)
            if times > 1 and any(row):
                shared.append(b)
                z = self._add_node(-1, (0, 1), lambda: (Fraction(0), Fraction(0)))
                costs = tuple((Fraction(0), cost) for cost in row)
                number = self._table(("convert", key, group, b), partial(tuple, costs))
                self.edges.append((source, z, number))
                for edge in edges:
                    self._forbid_unless_converted(edge, b, z)
        free = frozenset(shared)
        for edge in edges:
            name = ("edge", key, self.node_keys[edge.target], *edge[2:], free)
            number = self._table(name, partial(self._conversions, edge, free))
            self.edges.append((source, edge.target, number))

    def _wanted(self, edge: Edge, k: int) -> Label:
        return self.tables.signatures[edge.target][k].inputs[edge.slot]

    def _row_to(self, source: int, group: int, label: Label) -> _Row:
        made = self.tables.classes[self.tables.class_of[source]]
        return tuple(
            self.tables.conversion_cost(made, group, made.signatures[k].output, label)
            for k in self.domains[source]
        )

    def _forbid_unless_converted(self, edge: Edge, label: Label, z: int) -> None:
        v = edge.target
        wants = [self._wanted(edge, k) == label for k in self.domains[v]]
        if any(wants):
            key = ("wants", self.node_keys[v], edge.slot, label)
            number = self._table(
                key, lambda: tuple((None if w else Fraction(0), Fraction(0)) for w in wants)
            )
            self.edges.append((v, z, number))

    # -- integers ----------------------------------------------------------------------------------

    def _scale(self) -> tuple[Fraction, bool]:
        """Return the factor that makes costs integers, and whether it makes them exact."""
        denominators, total = {1}, Fraction(0)
        for table, uses in zip(self.exact_tables, self.uses, strict=True):
            entries = [x for x in _distinct(table) if x is not None]
            total += uses * max(entries, default=Fraction(0))
            denominators.update(x.denominator for x in entries)
        most = math.floor(LARGEST / total) if total else LARGEST
        denominator = 1
        for other in denominators:
            # Of many long decimals the common one has thousands of digits, and is not needed.
            if denominator <= most:
                denominator = math.lcm(denominator, other)
        if denominator <= most:
            # Finer multipliers, with room for their products with memory.
            shift = max(0, (most // denominator).bit_length() - 7)
            return Fraction(denominator << shift), True
        return Fraction(most) if most else Fraction(LARGEST) / math.ceil(total), False


def _entries(table: _Table | _Row) -> list[Fraction | None]:
    flat: list[Fraction | None] = []
    for row in table:
        flat.extend(row if isinstance(row, tuple) else (row,))
    return flat


def _distinct(table: _Table | _Row) -> Iterable[Fraction | None]:
    """Return every object once: most entries of a table are one and the same."""
    return {id(x): x for x in _entries(table)}.values()


def _integers(table: _Table | _Row, scale: Fraction) -> Ints:
    up, down = scale.numerator, scale.denominator
    entry = {
        id(x): FORBIDDEN if x is None else x.numerator * up // (x.denominator * down)
        for x in _distinct(table)
    }
    rows = len(table)
    whole = np.array([entry[id(x)] for x in _entries(table)], dtype=np.int64)
    return whole.reshape(rows, -1) if table and isinstance(table[0], tuple) else whole
