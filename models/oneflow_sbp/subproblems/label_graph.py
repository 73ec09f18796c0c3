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
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ..instance import OneFlowSbpInstance, OneFlowSbpSolution
from ..tables import Edge, Tables

#: A forbidden entry. Sums of finite entries stay below it, and 64 of it below 2**63.
FORBIDDEN = 2**56
#: Largest sum of finite entries, multipliers not counted.
LARGEST = 2**52

_Row = tuple[Fraction | None, ...]
_Table = tuple[_Row, ...]


@dataclass(frozen=True)
class LabelGraph:
    """Integer tables on nodes and pairs.

    Attributes
    ----------
    domains : list of tuple of int
        Labels of every node: numbers of signatures, or 0 and 1 of an auxiliary node.
    unary : list of int
        Number of every node's table.
    edges : list of (int, int, int)
        Two nodes, the smaller first, and the number of the table over their labels.
    tables : list of int arrays
    scale : int
        Entries are costs times this.
    exact : bool
        True if no entry was rounded down.
    memory : list of int
        Number of the table of every node's memory, in bytes; its axis is the node's.
    groups : list of int
        Placement of every node, -1 of an auxiliary one.
    limit_bytes : int or None
        Memory of one device.
    """

    domains: list[tuple[int, ...]]
    unary: list[int]
    edges: list[tuple[int, int, int]]
    tables: list[Ints]
    scale: int
    exact: bool
    memory: list[int]
    groups: list[int]
    limit_bytes: int | None
    operators: int

    def solution(self, labels: Sequence[int]) -> OneFlowSbpSolution:
        """Return the solution that gives every node the label of this position."""
        return OneFlowSbpSolution(
            signature=tuple(self.domains[o][labels[o]] for o in range(self.operators))
        )

    def value(self, labels: Sequence[int]) -> int:
        """Return the sum of the tables, at least `FORBIDDEN` if an entry is."""
        total = sum(int(self.tables[t][x]) for t, x in zip(self.unary, labels, strict=True))
        for u, v, t in self.edges:
            total += int(self.tables[t][labels[u], labels[v]])
        return total

    def memory_bytes(self, labels: Sequence[int], groups: int) -> list[int]:
        """Return the bytes on one device of every placement."""
        used = [0] * groups
        for t, g, x in zip(self.memory, self.groups, labels, strict=True):
            if g >= 0:
                used[g] += int(self.tables[t][x])
        return used

    def priced(self, multipliers: Sequence[int]) -> LabelGraph:
        """Return the graph whose memory costs a multiplier, times 1 / scale, a byte of a group.

        Raises
        ------
        OverflowError
            If the sums do not fit 64 bits.
        """
        if not any(multipliers):
            return self
        tables = list(self.tables)
        made: dict[tuple[int, int, int], int] = {}
        unary = list(self.unary)
        largest = LARGEST
        most_of: dict[tuple[int, int], int] = {}
        for o, group in enumerate(self.groups):
            price = multipliers[group] if group >= 0 else 0
            if not price:
                continue
            key = (self.unary[o], self.memory[o], price)
            if key not in made:
                memory = tables[self.memory[o]]
                most_of[key[1:]] = price * int(memory.max())
                if most_of[key[1:]] >= FORBIDDEN:
                    raise OverflowError("multipliers: too large for 64 bits")
                made[key] = len(tables)
                priced = tables[self.unary[o]] + price * memory
                tables.append(np.minimum(priced, FORBIDDEN))
            unary[o] = made[key]
            largest += most_of[key[1:]]
        if largest >= FORBIDDEN:
            raise OverflowError("multipliers: too large for 64 bits")
        return replace(self, unary=unary, tables=tables)

    def memory_only(self, group: int) -> LabelGraph:
        """Return the graph whose costs are the bytes on a device of a group; rules stay."""
        tables = list(self.tables)
        made: dict[object, int] = {}

        def table(kind: str, number: int, memory: int) -> int:
            key = (kind, number, memory)
            if key not in made:
                made[key] = len(tables)
                free = np.where(self.tables[number] >= FORBIDDEN, FORBIDDEN, 0)
                tables.append(free if memory < 0 else np.minimum(free + tables[memory], FORBIDDEN))
            return made[key]

        counted = [m if g == group else -1 for m, g in zip(self.memory, self.groups, strict=True)]
        unary = [table("unary", t, m) for t, m in zip(self.unary, counted, strict=True)]
        edges = [(u, v, table("edge", t, -1)) for u, v, t in self.edges]
        return replace(self, unary=unary, edges=edges, tables=tables)

    def merged(self) -> LabelGraph:
        """Return the graph with parallel pairs added up."""
        parallel: dict[tuple[int, int], list[int]] = defaultdict(list)
        for u, v, t in self.edges:
            parallel[u, v].append(t)
        if len(parallel) == len(self.edges):
            return self
        tables = list(self.tables)
        sums: dict[tuple[int, ...], int] = {}
        edges = []
        for (u, v), numbers in parallel.items():
            key = tuple(sorted(numbers))
            if len(key) == 1:
                edges.append((u, v, key[0]))
                continue
            if key not in sums:
                sums[key] = len(tables)
                total = tables[key[0]]
                for t in key[1:]:
                    total = np.minimum(total + tables[t], FORBIDDEN)
                tables.append(total)
            edges.append((u, v, sums[key]))
        return replace(self, edges=edges, tables=tables)

    def restricted(self, positions: Mapping[int, Sequence[int]]) -> LabelGraph:
        """Return the graph whose nodes keep only these of their labels, given by position."""
        if not positions:
            return self
        tables = list(self.tables)
        cut: dict[tuple[int, tuple[int, ...] | None, tuple[int, ...] | None], int] = {}
        kept = {o: tuple(p) for o, p in positions.items()}

        def sliced(t: int, rows: tuple[int, ...] | None, columns: tuple[int, ...] | None) -> int:
            key = (t, rows, columns)
            if key not in cut:
                table = self.tables[t]
                if rows is not None:
                    table = table[list(rows)]
                if columns is not None:
                    table = table[:, list(columns)]
                cut[key] = len(tables)
                tables.append(table)
            return cut[key]

        unary, memory, domains = list(self.unary), list(self.memory), list(self.domains)
        for o, rows in kept.items():
            unary[o] = sliced(unary[o], rows, None)
            memory[o] = sliced(memory[o], rows, None)
            domains[o] = tuple(domains[o][p] for p in rows)
        edges = [
            (u, v, sliced(t, kept.get(u), kept.get(v)) if u in kept or v in kept else t)
            for u, v, t in self.edges
        ]
        return replace(
            self, unary=unary, memory=memory, domains=domains, edges=edges, tables=tables
        )


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
        for o, domain in enumerate(self.domains):
            key = self.node_keys[o]
            if key not in memory_rows:
                memory_rows[key] = len(arrays) + len(whole)
                kept = (
                    [self.tables.classes[key[0]].memory_bytes[k] for k in domain]
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
            limit_bytes=self.instance.memory_limit_bytes,
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
            self._add_node(c, domain, lambda c=c, d=domain: self._compute(c, d))

    def _compute(self, c: int, domain: Sequence[int]) -> _Row:
        return tuple(self.tables.classes[c].compute[k] for k in domain)

    def _add_node(self, c: int, domain: tuple[int, ...], row) -> int:  # type: ignore[no-untyped-def]
        key = (c, self.domain_ids.setdefault(domain, len(self.domain_ids)))
        self.domains.append(domain)
        self.node_keys.append(key)
        self.unary.append(self._table(("unary", *key), row))
        return len(self.domains) - 1

    def _table(self, key: Hashable, make) -> int:  # type: ignore[no-untyped-def]
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

    def _conversions(self, edge: Edge, free: frozenset[object] = frozenset()) -> _Table:
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
            self.edges.append((u, v, self._table(key, lambda u=u, v=v: self._tie(u, v))))

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
        wanted: dict[object, int] = defaultdict(int)
        for edge in edges:
            for b in {self._wanted(edge, k) for k in self.domains[edge.target]}:
                wanted[b] += 1
        key = self.node_keys[source]
        shared = []
        for b, times in wanted.items():
            row = self._row_to(source, group, b)
            if times > 1 and any(row):
                shared.append(b)
                z = self._add_node(-1, (0, 1), lambda: (Fraction(0), Fraction(0)))
                number = self._table(
                    ("convert", key, group, b),
                    lambda row=row: tuple((Fraction(0), cost) for cost in row),
                )
                self.edges.append((source, z, number))
                for edge in edges:
                    self._forbid_unless_converted(edge, b, z)
        free = frozenset(shared)
        for edge in edges:
            name = ("edge", key, self.node_keys[edge.target], *edge[2:], free)
            number = self._table(name, lambda edge=edge: self._conversions(edge, free))
            self.edges.append((source, edge.target, number))

    def _wanted(self, edge: Edge, k: int) -> object:
        return self.tables.signatures[edge.target][k].inputs[edge.slot]

    def _row_to(self, source: int, group: int, label) -> _Row:  # type: ignore[no-untyped-def]
        made = self.tables.classes[self.tables.class_of[source]]
        return tuple(
            self.tables.conversion_cost(made, group, made.signatures[k].output, label)
            for k in self.domains[source]
        )

    def _forbid_unless_converted(self, edge: Edge, label: object, z: int) -> None:
        v = edge.target
        wants = [self._wanted(edge, k) == label for k in self.domains[v]]
        if any(wants):
            key = ("wants", self.node_keys[v], edge.slot, label)
            number = self._table(
                key, lambda: tuple((None if w else Fraction(0), Fraction(0)) for w in wants)
            )
            self.edges.append((v, z, number))

    # -- integers ----------------------------------------------------------------------------------

    def _scale(self) -> tuple[int, bool]:
        """Return the factor that makes costs integers, and whether it makes them exact."""
        denominator, total = 1, Fraction(0)
        for table, uses in zip(self.exact_tables, self.uses, strict=True):
            entries = [x for x in _entries(table) if x is not None]
            total += uses * max(entries, default=Fraction(0))
            if denominator <= LARGEST:
                denominator = math.lcm(denominator, *{x.denominator for x in entries})
        most = math.floor(LARGEST / total) if total else LARGEST
        if denominator <= most:
            # Finer multipliers, with room for their products with memory.
            return denominator << max(0, (most // denominator).bit_length() - 7), True
        return max(1, most), False


def _entries(table: _Table | _Row) -> list[Fraction | None]:
    flat: list[Fraction | None] = []
    for row in table:
        flat.extend(row if isinstance(row, tuple) else (row,))
    return flat


def _integers(table: _Table | _Row, scale: int) -> Ints:
    def integer(x: Fraction | None) -> int:
        return FORBIDDEN if x is None else x.numerator * scale // x.denominator

    if table and isinstance(table[0], tuple):
        return np.array([[integer(x) for x in row] for row in table], dtype=np.int64)  # type: ignore[union-attr]
    return np.array([integer(x) for x in table], dtype=np.int64)  # type: ignore[arg-type]
