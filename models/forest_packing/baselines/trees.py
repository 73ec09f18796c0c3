r"""Single trees: a widest spanning tree, and greedy peeling of widest trees.

The tree is undirected: data are reduced on it towards a root and broadcast away from it, so that
each direction of each link is used once and any worker may be the root. A link's width is
the remaining capacity of the smaller of its two directions.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.graphs.spanning import SpanningTrees
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import ForestPackingInstance
from ..network import Network
from ..outcome import plan_outcome
from ..packing import (
    Pair,
    Route,
    fit,
    required_shares,
)
from ..subproblems.routing import Routing
from .rings_and_servers import staged

#: A spanning tree: one route for each pair of neighbours, in either direction.
_Tree = list[Route]


@method(kind="baseline", reference="single tree")
def single_tree(instance: ForestPackingInstance, limits: Limits) -> MethodOutcome:
    """One spanning tree whose narrowest link is widest.

    Without switches a maximum spanning tree, the widest of all. With switches, where a tree may use
    a link several times, workers are joined one by one over the path that is widest given the
    load of the tree so far (reconstructed).

    Raises
    ------
    ModelRefused
        If links are missing in one direction, so that no undirected tree joins the workers.
    """
    return _peeled(instance, limits, most=1)


@method(kind="baseline", reference="greedy peeling")
def greedy_peel(instance: ForestPackingInstance, limits: Limits) -> MethodOutcome:
    """Widest spanning trees, peeled off one after the other.

    The next tree is found in the capacity that the earlier ones leave, until that is disconnected.
    Every tree fills some row, so there are at most as many as rows. When time runs out, the trees
    found so far are returned.

    Raises
    ------
    ModelRefused
        As `single_tree`.
    """
    return _peeled(instance, limits, most=None)


def _peeled(instance: ForestPackingInstance, limits: Limits, *, most: int | None) -> MethodOutcome:
    clock = Clock(limits)
    network = instance.network
    widest = _CableTrees(network) if _cables_only(network) else _WidestPathTrees(network)
    left = [row.capacity for row in network.rows]
    left_float = network.row_capacity_float.copy()
    trees: list[tuple[_Tree, Fraction]] = []
    limit_hit = None
    while most is None or len(trees) < most:
        if trees and clock.expired:
            limit_hit = "time_s"
            break
        tree = widest(left_float)
        if not tree:
            break
        used = Counter(
            i
            for route in tree
            for way in (route, route[::-1])
            for arc in itertools.pairwise(way)
            for i in network.rows_of[network.arc_index[arc]]
        )
        rate = min(left[i] / k for i, k in used.items())
        for i, k in used.items():
            left[i] -= k * rate
            left_float[i] = float(left[i])
        trees.append((tree, rate))
    if not trees and Routing(network).connected:
        raise ModelRefused("single trees: the links with two directions do not join the workers")
    plan = fit(instance, [p for tree, rate in trees for p in _rooted(instance, tree, rate)])
    return plan_outcome(instance, plan, limit_hit=limit_hit, notes={"trees": len(trees)})


def _cables_only(network: Network) -> bool:
    """Return True if there are no switches, and no rows but those of cables."""
    return not network.switches and all(len(rows) == 1 for rows in network.rows_of)


def _two_way(network: Network) -> list[tuple[int, int]]:
    return [(u, v) for u, v in network.edges if {(u, v), (v, u)} <= network.arc_index.keys()]


class _CableTrees:
    """Widest trees where every logical arc is a link: maximum spanning trees."""

    def __init__(self, network: Network):
        # Of equally wide trees a path is better than a star, which uses up the links of its centre:
        # ties go to neighbours by number.
        self._edges = sorted(_two_way(network), key=lambda e: (e[1] - e[0], e[0]))
        index = network.arc_index
        self._there = [network.rows_of[index[u, v]][0] for u, v in self._edges]
        self._back = [network.rows_of[index[v, u]][0] for u, v in self._edges]
        u, v = [u for u, _ in self._edges], [v for _, v in self._edges]
        self._trees = SpanningTrees(network.num_nodes, u, v)

    def __call__(self, left: Floats) -> _Tree:
        """Return a widest tree in the remaining capacities of the rows; empty if there is none."""
        width = np.minimum(left[self._there], left[self._back])
        return [self._edges[e] for e in self._trees(np.where(width > 0, -width, np.inf))]


class _WidestPathTrees:
    """Trees that grow by the widest path through switches from a worker inside to one outside."""

    def __init__(self, network: Network):
        self._network = network
        # Of each node: (neighbour, ((row, how often the cable's two directions use it), ..)).
        self._cables: list[list[tuple[int, tuple[tuple[int, int], ...]]]] = [
            [] for _ in range(network.num_nodes)
        ]
        for u, v in _two_way(network):
            rows = Counter(
                i for arc in ((u, v), (v, u)) for i in network.rows_of[network.arc_index[arc]]
            )
            self._cables[u].append((v, tuple(rows.items())))
            self._cables[v].append((u, tuple(rows.items())))

    def __call__(self, left: Floats) -> _Tree:
        """Return a wide tree in the remaining capacities of the rows; empty if there is none."""
        used: Counter[int] = Counter()
        inside = {0}
        tree: _Tree = []
        while len(inside) < self._network.num_workers:
            route = self._widest_path(left, used, inside)
            if route is None:
                return []
            for u, v in itertools.pairwise(route):
                used.update(dict(next(rows for w, rows in self._cables[u] if w == v)))
            inside.add(route[-1])
            tree.append(route)
        return tree

    def _widest_path(self, left: Floats, used: Counter[int], inside: set[int]) -> Route | None:
        """Return the widest path to a worker outside; ties by hops, then by index."""
        # (-width, hops, node, node before)
        waiting = [(-math.inf, 0, u, -1) for u in sorted(inside)]
        before: dict[int, int] = {}
        while waiting:
            negative, hops, u, parent = heapq.heappop(waiting)
            if u in before:
                continue
            before[u] = parent
            if u < self._network.num_workers and u not in inside:
                path = [u]
                while before[path[-1]] >= 0:
                    path.append(before[path[-1]])
                return tuple(reversed(path))
            for v, rows in self._cables[u]:
                if v not in before and v not in inside:
                    width = min(left[i] / (used[i] + k) for i, k in rows)
                    if width > 0:
                        heapq.heappush(waiting, (max(negative, -width), hops + 1, v, u))
        return None


def _rooted(instance: ForestPackingInstance, tree: _Tree, rate: Fraction) -> list[Pair]:
    """Return the tree with the roots that the instance asks for; at its centre if they are free."""
    neighbours: dict[int, list[tuple[int, Route]]] = {}
    for route in tree:
        neighbours.setdefault(route[0], []).append((route[-1], route))
        neighbours.setdefault(route[-1], []).append((route[0], route[::-1]))
    shares = required_shares(instance) or {_centre(neighbours): Fraction(1)}
    pairs = []
    for root, share in shares.items():
        away: list[Route] = []
        waiting = [(root, -1)]
        for u, parent in waiting:
            for v, route in neighbours[u]:
                if v != parent:
                    away.append(route)
                    waiting.append((v, u))
        towards = tuple(route[::-1] for route in away)
        pairs.append(staged(instance, root, towards, tuple(away), rate * share))
    return pairs


def _centre(neighbours: Mapping[int, Sequence[tuple[int, Route]]]) -> int:
    """Return the worker from which the tree is least high, the smaller of two."""
    degree = {v: len(others) for v, others in neighbours.items()}
    leaves = [v for v, d in degree.items() if d == 1]
    while len(degree) > 2:
        outer, leaves = leaves, []
        for v in outer:
            del degree[v]
            for u, _ in neighbours[v]:
                if u in degree:
                    degree[u] -= 1
                    if degree[u] == 1:
                        leaves.append(u)
    return min(degree)
