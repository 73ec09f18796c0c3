"""A network in arrays: merged arcs, exact capacities, and the rows that limit its arcs.

A row is a set of arcs that together carry at most a capacity: one arc of a full-duplex cable, both
directions of a half-duplex cable, or everything that enters or leaves a node with a NIC limit.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.tolerance import decimal_rational

if TYPE_CHECKING:
    from .instance import ForestPackingInstance


@dataclass(frozen=True)
class Row:
    """Arcs that together carry at most `capacity`, in GB/s."""

    name: str
    capacity: Fraction
    arcs: tuple[int, ...]


@dataclass(frozen=True)
class Network:
    """Nodes 0..n-1 (workers first), arcs with capacities, and rows.

    Attributes
    ----------
    labels : tuple of int
        The instance's number of each node.
    num_workers : int
        N; nodes 0..N-1 are workers, the others switches.
    arcs : tuple of (int, int)
        Tail and head of every arc, sorted, each pair once.
    capacity : tuple of Fraction
        c_a > 0 of each arc, GB/s; in a half-duplex network the cable's.
    rows : tuple of Row
    """

    labels: tuple[int, ...]
    num_workers: int
    arcs: tuple[tuple[int, int], ...]
    capacity: tuple[Fraction, ...]
    rows: tuple[Row, ...]

    @property
    def num_nodes(self) -> int:
        """Workers and switches."""
        return len(self.labels)

    @property
    def switches(self) -> range:
        """The nodes that are switches."""
        return range(self.num_workers, self.num_nodes)

    @cached_property
    def index(self) -> dict[int, int]:
        """Node of each of the instance's node numbers."""
        return {label: v for v, label in enumerate(self.labels)}

    @cached_property
    def arc_index(self) -> dict[tuple[int, int], int]:
        """Position of each (tail, head) in `arcs`."""
        return {arc: a for a, arc in enumerate(self.arcs)}

    @cached_property
    def tails(self) -> Ints:
        """Tail of each arc, shape (arcs,)."""
        return np.array([u for u, _ in self.arcs], dtype=np.int64)

    @cached_property
    def heads(self) -> Ints:
        """Head of each arc, shape (arcs,)."""
        return np.array([v for _, v in self.arcs], dtype=np.int64)

    @cached_property
    def out_arcs(self) -> list[list[int]]:
        """Arcs that leave each node."""
        return _by_node(self.num_nodes, [u for u, _ in self.arcs])

    @cached_property
    def in_arcs(self) -> list[list[int]]:
        """Arcs that enter each node."""
        return _by_node(self.num_nodes, [v for _, v in self.arcs])

    @cached_property
    def capacity_float(self) -> Floats:
        """c_a in doubles, shape (arcs,)."""
        return np.array([float(c) for c in self.capacity])

    @cached_property
    def row_capacity_float(self) -> Floats:
        """Capacities of the rows in doubles, shape (rows,)."""
        return np.array([float(row.capacity) for row in self.rows])

    @cached_property
    def rows_of(self) -> list[list[int]]:
        """Rows that each arc is in."""
        out: list[list[int]] = [[] for _ in self.arcs]
        for i, row in enumerate(self.rows):
            for a in row.arcs:
                out[a].append(i)
        return out

    @property
    def only_arc_rows(self) -> bool:
        """True if every row is one arc: full duplex, no NIC limits."""
        # A NIC limit may be of a single arc too.
        return len(self.rows) == len(self.arcs) and all(len(row.arcs) == 1 for row in self.rows)

    @cached_property
    def symmetric(self) -> bool:
        """True if every arc has a reverse arc of the same capacity and no row but its own."""
        return self.only_arc_rows and all(
            self.arc_index.get((v, u)) is not None
            and self.capacity[self.arc_index[v, u]] == self.capacity[a]
            for a, (u, v) in enumerate(self.arcs)
        )

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Pairs u < v with an arc in either direction, sorted."""
        return tuple(sorted({(min(a), max(a)) for a in self.arcs}))

    @cached_property
    def unit(self) -> Fraction:
        """Largest bandwidth of which all capacities (of arcs and rows) are integer multiples."""
        capacities = [*self.capacity, *(row.capacity for row in self.rows)]
        denominator = math.lcm(*(c.denominator for c in capacities)) if capacities else 1
        common = math.gcd(*(int(c * denominator) for c in capacities)) if capacities else 1
        return Fraction(common, denominator)

    @cached_property
    def int_capacity(self) -> tuple[int, ...]:
        """c_a in units."""
        return tuple(int(c / self.unit) for c in self.capacity)

    @cached_property
    def int_row_capacity(self) -> tuple[int, ...]:
        """Capacity of each row in units."""
        return tuple(int(row.capacity / self.unit) for row in self.rows)

    def row_loads(self, loads: Sequence[Fraction]) -> list[Fraction]:
        """Return the total load of the arcs of each row."""
        return [sum((loads[a] for a in row.arcs), Fraction(0)) for row in self.rows]


def make_network(instance: ForestPackingInstance) -> Network:
    """Merge parallel links, drop links without bandwidth and switches without links."""
    merged: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for link in instance.links:
        bandwidth = decimal_rational(link.bandwidth_gbyte_per_s)
        if bandwidth == 0:
            continue
        merged[link.src, link.dst] += bandwidth
        if link.both:
            merged[link.dst, link.src] += bandwidth
    linked = {v for arc in merged for v in arc}
    labels = (*instance.workers, *(s for s in instance.switches if s in linked))
    index = {label: v for v, label in enumerate(labels)}
    capacity = {(index[u], index[v]): c for (u, v), c in merged.items()}
    arcs = tuple(sorted(capacity))
    position = {arc: a for a, arc in enumerate(arcs)}
    rows = []
    for a, (u, v) in enumerate(arcs):
        name = f"{labels[u]}->{labels[v]}"
        if instance.duplex == "full":
            rows.append(Row(name, capacity[u, v], (a,)))
        elif u < v:
            both = f"{labels[u]}--{labels[v]}"
            rows.append(Row(both, capacity[u, v], (a, position[v, u])))
    for direction, limits in (
        ("in", instance.nic_in_gbyte_per_s),
        ("out", instance.nic_out_gbyte_per_s),
    ):
        for label, limit in sorted(limits.items()):
            end = 1 if direction == "in" else 0
            limited = tuple(a for a, arc in enumerate(arcs) if arc[end] == index.get(label))
            if limited:
                rows.append(Row(f"nic {direction} {label}", decimal_rational(limit), limited))
    return Network(
        labels, len(instance.workers), arcs, tuple(capacity[arc] for arc in arcs), tuple(rows)
    )


def _by_node(n: int, ends: list[int]) -> list[list[int]]:
    out: list[list[int]] = [[] for _ in range(n)]
    for a, v in enumerate(ends):
        out[v].append(a)
    return out
