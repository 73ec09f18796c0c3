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
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ..instance import OneFlowSbpInstance
from ..labels import Label
from ..tables import Edge, Tables
from .graph import FORBIDDEN, LARGEST, LabelGraph

_Row = tuple[Fraction | None, ...]
#: Labels of a node for a conversion: not done, done. By definition.
_CONVERTED = (0, 1)


@dataclass(frozen=True)
class _Table:
    """Costs of pairs of labels; labels that stand for the same share a row or a column.

    Attributes
    ----------
    costs : tuple of tuple of Fraction or None
    rows, columns : list of int
        The row of every label of the first node, and the column of every label of the second.
    """

    costs: tuple[_Row, ...]
    rows: list[int]
    columns: list[int]

    @classmethod
    def of(
        cls,
        first: Sequence[Hashable],
        second: Sequence[Hashable],
        cost: Callable[[Any, Any], Fraction | None],
    ) -> _Table:
        """Return the costs between what the labels of two nodes stand for."""
        up, down = ({x: i for i, x in enumerate(dict.fromkeys(some))} for some in (first, second))
        costs = tuple(tuple(cost(a, b) for b in down) for a in up)
        return cls(costs, [up[a] for a in first], [down[b] for b in second])


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
        made, taken = self.tables.held(edge), self.tables.wanted(edge)
        signatures = self.tables.signatures
        # A label, and its name in the table where the instance lists one.
        have = [(signatures[edge.source][k].output, made[k]) for k in self.domains[edge.source]]
        want = [(self._wanted(edge, k), taken[k]) for k in self.domains[edge.target]]
        costs, nothing = self.tables.edge_costs(edge, set(made), set(taken)), Fraction(0)

        def cost(a: tuple[Label, Label], b: tuple[Label, Label]) -> Fraction | None:
            if b[0] in free:
                return nothing
            return None if edge.tied and a[0] != b[0] else costs[a[1], b[1]]

        return _Table.of(have, want, cost)

    def _add_ties(self) -> None:
        for a, b in self.tables.ties:
            u, v = min(a, b), max(a, b)
            if u == v:
                continue
            key = ("tie", self.node_keys[u], self.node_keys[v])
            self.edges.append((u, v, self._table(key, partial(self._tie, u, v))))

    def _tie(self, u: int, v: int) -> _Table:
        first, second = self.tables.signatures[u], self.tables.signatures[v]
        return _Table.of(
            [first[k].output for k in self.domains[u]],
            [second[j].output for j in self.domains[v]],
            lambda a, b: Fraction(0) if a == b else None,
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
                convert = partial(
                    _Table.of, row, _CONVERTED, lambda cost, done: cost if done else Fraction(0)
                )
                number = self._table(("convert", key, group, b), convert)
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
            allowed = partial(
                _Table.of, wants, _CONVERTED, lambda w, done: None if w > done else Fraction(0)
            )
            number = self._table(key, allowed)
            self.edges.append((v, z, number))

    # -- integers ----------------------------------------------------------------------------------

    def _scale(self) -> tuple[Fraction, bool]:
        """Return the factor that makes costs integers, and whether it makes them exact."""
        denominators, total = {1}, Fraction(0)
        for table, uses in zip(self.exact_tables, self.uses, strict=True):
            # Most entries of a table are one and the same object.
            entries = {id(x): x for x in _entries(table) if x is not None}.values()
            total += uses * max(entries, default=Fraction(0), key=float)
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
    return [x for row in table.costs for x in row] if isinstance(table, _Table) else list(table)


def _integers(table: _Table | _Row, scale: Fraction) -> Ints:
    up, down = scale.numerator, scale.denominator
    entries = _entries(table)
    entry = {
        i: FORBIDDEN if x is None else x.numerator * up // (x.denominator * down)
        for i, x in {id(x): x for x in entries}.items()
    }
    whole = np.array([entry[id(x)] for x in entries], dtype=np.int64)
    if not isinstance(table, _Table):
        return whole
    return whole.reshape(len(table.costs), -1)[np.ix_(table.rows, table.columns)]
