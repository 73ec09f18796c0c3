r"""Optimal trees of a symmetric network from its strength, in integers.

The tightest partition P (A4) bounds the rate by :math:`\tau = \mathrm{cross}(P) / (|P| - 1)`. In
the network with its parts shrunk to nodes every cable is full at that rate, and inside a part trees
of at least this rate fit, as the part is no weaker than the whole: its own tightest partition is
taken, and so on. That leaves *minors*, networks in which the partition into single nodes is the
tightest one, and a union of a tree of each is a tree of the whole network.

In a minor of n nodes, cables are directed such that :math:`\tau` enters every node but a root. A
set of nodes without the root then is entered by :math:`\tau` at least, as its cables hold at most
:math:`\tau(|Q| - 1)`; so out-arborescences of total rate :math:`\tau` fit (Edmonds), and they use
up everything. They are packed in integers (`arborescence_peeling`). The trees of the minors are put
together in order of their rates, each minor's scaled to the rate of the whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.pieces.graphs.arborescence_peeling import fits_words, peel_arborescences
from gadgetopt.pieces.graphs.flows import BigInts, FlowNetwork, wide_integers
from gadgetopt.search.clock import Clock

from ...subproblems.strength import (
    Strength,
    tree_packing_number,
)

#: Cables of a tree, and its rate as a part of the whole rate.
Part = tuple[tuple[int, ...], Fraction]


@dataclass(frozen=True)
class Minor:
    """Cables between the parts of a tightest partition: `edges` are theirs in the network."""

    num_nodes: int
    tails: Ints
    heads: Ints
    capacity: BigInts
    edges: Ints


@dataclass(frozen=True)
class CablePacking:
    """Trees as positions of cables with their rates in units; the strength; if it is reached."""

    trees: list[Part]
    strength: Strength
    minors: int
    complete: bool


def pack_cables(capacity: BigInts, clock: Clock) -> CablePacking:
    """Return trees of a total rate of the strength, with rates in the unit of capacity.

    Parameters
    ----------
    capacity : integer ndarray, shape (n, n)
        Symmetric; n >= 2. Cables are the pairs u < v of capacity > 0, in the order of the rows.
    clock : Clock
        When the time is up, the trees found so far are returned: a part of the rate.
    """
    minors, strength = _minors(capacity, clock)
    if not strength.proved or strength.value == 0:
        return CablePacking([], strength, len(minors), strength.value == 0)
    packed: list[list[Part]] = []
    complete = True
    for k, minor in enumerate(minors):
        parts, whole = _pack_minor(minor, Clock(clock.limits(part=1 / (len(minors) - k))))
        packed.append(parts)
        complete &= whole
    trees = [(edges, part * strength.value) for edges, part in _together(packed)]
    return CablePacking(trees, strength, len(minors), complete)


def _minors(capacity: BigInts, clock: Clock) -> tuple[list[Minor], Strength]:
    """Return the minors and the strength of the whole network."""
    us, vs = np.nonzero(np.triu(capacity, 1))
    of_edge = capacity[us, vs]
    waiting = [np.arange(len(capacity))]
    minors: list[Minor] = []
    whole: Strength | None = None
    while waiting:
        nodes = waiting.pop()
        found = tree_packing_number(capacity[np.ix_(nodes, nodes)], clock)
        whole = found if whole is None else whole
        if not found.proved or found.value == 0:
            return minors, found
        part_of = np.full(len(capacity), -1)
        for k, part in enumerate(found.parts):
            part_of[nodes[part]] = k
            if len(part) > 1:
                waiting.append(nodes[part])
        a, b = part_of[us], part_of[vs]
        edges = np.flatnonzero((a >= 0) & (b >= 0) & (a != b))
        minors.append(Minor(len(found.parts), a[edges], b[edges], of_edge[edges], edges))
    assert whole is not None
    return minors, whole


def _pack_minor(minor: Minor, clock: Clock) -> tuple[list[Part], bool]:
    """Return a minor's trees with the parts of its rate, and True if these add up to 1."""
    n = minor.num_nodes
    total = int(minor.capacity.sum(dtype=object))
    common = math.gcd(total, n - 1)
    demand = total // common
    capacity = wide_integers(minor.capacity.astype(object) * ((n - 1) // common))
    root = _root(minor, capacity)
    tails, heads, directed, edges = _directed(minor, capacity, root, demand)
    if not fits_words(directed):
        raise ModelRefused(
            "arborescence_packing: capacities are whole numbers of more than 61 bits in their "
            "common unit: use column_generation"
        )
    found = peel_arborescences(n, tails, heads, directed.astype(np.int64), root, demand, clock)
    parts = [
        (tuple(minor.edges[edges[tree]].tolist()), Fraction(rate, demand))
        for tree, rate in zip(found.trees, found.rates, strict=True)
    ]
    return parts, found.complete


def _together(packed: Sequence[Sequence[Part]]) -> list[Part]:
    """Return trees of a network from those of its minors, put side by side in their order.

    Each minor's trees cover the parts of the rate from 0 to their total; a tree of the whole is
    what covers the same part in every minor.
    """
    at = [0] * len(packed)
    left = [parts[0][1] if parts else Fraction(0) for parts in packed]
    out: list[Part] = []
    while all(k < len(parts) for k, parts in zip(at, packed, strict=True)):
        step = min(left)
        edges = [e for k, parts in zip(at, packed, strict=True) for e in parts[k][0]]
        out.append((tuple(sorted(edges)), step))
        for i, parts in enumerate(packed):
            left[i] -= step
            if left[i] == 0:
                at[i] += 1
                if at[i] < len(parts):
                    left[i] = parts[at[i]][1]
    return out


def _root(minor: Minor, capacity: BigInts) -> int:
    """Return the node with the most capacity, where the others keep the most room."""
    at = np.zeros(minor.num_nodes, dtype=capacity.dtype)
    np.add.at(at, minor.tails, capacity)
    np.add.at(at, minor.heads, capacity)
    return int(at.argmax())


def _directed(
    minor: Minor, capacity: BigInts, root: int, demand: int
) -> tuple[Ints, Ints, BigInts, Ints]:
    """Direct cables such that `demand` enters every node but the root, and nothing the root.

    A cable points to where less has entered so far; a maximum flow turns what is too much.
    Returns tails, heads, capacities, and the minor's cable of each arc.
    """
    n, m = minor.num_nodes, len(capacity)
    tails, heads = minor.tails.copy(), minor.heads.copy()
    missing: list[int] = [demand] * n
    missing[root] = 0
    for e in sorted(range(m), key=lambda e: -capacity[e]):
        u, v = int(tails[e]), int(heads[e])
        if v == root or (u != root and missing[u] >= missing[v]):
            tails[e], heads[e] = v, u
        missing[int(heads[e])] -= int(capacity[e])
    source, sink = n, n + 1
    over = [v for v in range(n) if missing[v] < 0]
    under = [v for v in range(n) if missing[v] > 0]
    movable = np.where(tails == root, 0, capacity)
    flow_tails = np.concatenate((heads, np.full(len(over), source), under)).astype(np.int64)
    flow_heads = np.concatenate((tails, over, np.full(len(under), sink))).astype(np.int64)
    limits = [*movable.tolist(), *(-missing[v] for v in over), *(missing[v] for v in under)]
    flow = FlowNetwork(n + 2, flow_tails, flow_heads).max_flow(limits, source, sink)
    # Of parallel cables the first ones are turned.
    moved = {
        (int(u), int(v)): -int(x)
        for u, v, x in zip(flow.pattern.rows, flow.pattern.columns, flow.residual, strict=True)
    }
    for u, v, x in zip(heads.tolist(), tails.tolist(), movable.tolist(), strict=True):
        moved[u, v] += x
    turned = np.zeros(m, dtype=object)
    for e in range(m):
        pair = int(heads[e]), int(tails[e])
        turned[e] = min(max(moved[pair], 0), int(movable[e]))
        moved[pair] -= turned[e]
    directed = np.concatenate((capacity.astype(object) - turned, turned))
    kept = np.flatnonzero(directed)
    edges = np.tile(np.arange(m), 2)
    return (
        np.concatenate((tails, heads))[kept],
        np.concatenate((heads, tails))[kept],
        wide_integers(directed[kept]),
        edges[kept],
    )
