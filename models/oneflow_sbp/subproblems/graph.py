r"""Label graphs: integer tables on nodes and on pairs of nodes.

.. math:: \min_x\ \sum_o \theta_o(x_o) + \sum_{(u, v)} \theta_{uv}(x_u, x_v)

Nodes and pairs of equal classes share their tables by number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ..instance import OneFlowSbpSolution

#: A forbidden entry. Sums of finite entries stay below it, and 64 of it below 2**63. By definition.
FORBIDDEN = 2**56
#: Largest sum of finite entries, multipliers not counted. By definition.
LARGEST = 2**52


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
    scale : Fraction
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
    scale: Fraction
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

    def labels_of(self, solution: OneFlowSbpSolution) -> list[int] | None:
        """Return the positions of a solution's labels, auxiliary nodes at their best.

        None if a domain does not have its operator's signature.
        """
        chosen = solution.signature
        if any(k not in self.domains[o] for o, k in enumerate(chosen)):
            return None
        labels = [self.domains[o].index(k) for o, k in enumerate(chosen)]
        auxiliary = [self.tables[t].copy() for t in self.unary[self.operators :]]
        for u, v, t in self.edges:
            if v >= self.operators:
                auxiliary[v - self.operators] += self.tables[t][labels[u]]
        return labels + [int(costs.argmin()) for costs in auxiliary]

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
            (e[0], e[1], sliced(e[2], kept.get(e[0]), kept.get(e[1])))
            if e[0] in kept or e[1] in kept
            else e
            for e in self.edges
        ]
        return replace(
            self, unary=unary, memory=memory, domains=domains, edges=edges, tables=tables
        )
