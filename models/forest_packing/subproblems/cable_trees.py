r"""Trees on cables: scope, bounds and matroid union for few or equal trees.

The methods of F8a and F8b are written for an overlapped allreduce on a symmetric network without
switches. There each undirected spanning tree reduces towards its root and broadcasts away from it,
and loads both directions of its cables once; any worker may be the root (T1).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import MethodOutcome

from ..instance import ForestPackingCertificate, ForestPackingInstance, Partition
from ..network import Network
from ..outcome import plan_outcome
from ..packing import Pair, required_shares
from .roots import rooted_pairs
from .strength import Strength, capacity_matrix, tree_packing_number

#: A tree as positions in `network.edges`.
EdgeTree = tuple[int, ...]


def check_scope(instance: ForestPackingInstance, method: str) -> None:
    """Refuse instances that are not an overlapped allreduce on cables, or that limit the depth.

    Raises
    ------
    ModelRefused
    """
    reason = out_of_scope(instance)
    if reason is not None:
        raise ModelRefused(f"{method}: {reason}")


def out_of_scope(instance: ForestPackingInstance) -> str | None:
    """Return why trees on cables do not serve an instance; None if they do."""
    reasons = {
        f"collective: {instance.collective!r}, expected 'allreduce'": len(instance.stages) < 2,
        "stage_mode: 'sequential', expected 'overlap'": instance.sequential,
        "switches: expected none that are linked": len(instance.network.switches) > 0,
        "links: expected full-duplex cables, equal in both directions, without NIC limits": (
            not instance.network.symmetric
        ),
        f"max_depth: {instance.max_depth}, expected none": instance.max_depth is not None,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def edge_capacities(network: Network) -> tuple[int, ...]:
    """Return c_e of each of `network.edges` in units."""
    return tuple(network.int_capacity[network.arc_index[edge]] for edge in network.edges)


def widest(network: Network) -> int:
    """Return B_1, the width in units of a widest spanning tree; 0 if there is no spanning tree."""
    capacities = edge_capacities(network)
    parent = list(range(network.num_nodes))

    def find(v: int) -> int:
        while parent[v] != v:
            v = parent[v]
        return v

    parts = network.num_nodes
    for e in sorted(range(len(capacities)), key=lambda e: -capacities[e]):
        u, v = (find(w) for w in network.edges[e])
        if u != v:
            parent[u] = v
            parts -= 1
        if parts == 1:
            return capacities[e]
    return 0


def strength(network: Network, clock: Clock | None = None) -> Strength:
    """Return the tree-packing number in units, with its partition (A4)."""
    return tree_packing_number(capacity_matrix(network), clock)


def partition_certificate(network: Network, found: Strength) -> ForestPackingCertificate:
    """Return the certificate of R <= tau."""
    return ForestPackingCertificate(proof=Partition(parts=labelled(network, found)))


def labelled(network: Network, found: Strength) -> tuple[tuple[int, ...], ...]:
    """Return a partition with the instance's node numbers."""
    return tuple(tuple(network.labels[v] for v in part) for part in sorted(found.parts))


def disconnected(instance: ForestPackingInstance, found: Strength) -> MethodOutcome:
    """Return the outcome for a network without a spanning tree: rate 0."""
    return plan_outcome(
        instance,
        [],
        certificate=partition_certificate(instance.network, found),
        dual_bound=0,
        notes={"disconnected": "no tree spans the workers"},
    )


def plan(
    instance: ForestPackingInstance, trees: Sequence[EdgeTree], rates: Sequence[Fraction]
) -> list[Pair]:
    """Root the trees with a rate: at their centres, or so that the given shares are kept."""
    edges = instance.network.edges
    rated = [
        (tuple(edges[e] for e in tree), rate)
        for tree, rate in zip(trees, rates, strict=True)
        if rate > 0
    ]
    return rooted_pairs(instance, rated, required_shares(instance))


class TreeUnion:
    """k edge-disjoint forests of a multigraph, grown by shortest exchanges (matroid union).

    Parameters
    ----------
    num_nodes : int
    edges : sequence of (u, v)
        Each pair once.
    multiplicity : sequence of int
        Copies of each edge.
    k : int
        Number of forests.
    """

    edges: Sequence[tuple[int, int]]
    k: int
    num_nodes: int

    def __init__(
        self,
        num_nodes: int,
        edges: Sequence[tuple[int, int]],
        multiplicity: Sequence[int],
        k: int,
    ):
        self.num_nodes, self.edges, self.k = num_nodes, edges, k
        self.spare: list[int] = [min(m, k) for m in multiplicity]
        #: Neighbours of every node in every forest, with the edge that leads there.
        self.near: list[list[dict[int, int]]] = [[{} for _ in range(num_nodes)] for _ in range(k)]
        #: Every forest rooted (`_hang`), until it changes.
        self._hung: list[tuple[list[int], list[int], list[int], list[int]] | None] = [None] * k

    def fill(self, clock: Clock | None = None) -> bool:
        """Grow the forests as far as possible; return True if all of them span.

        Raises
        ------
        TimeoutError
            If time is up first.
        """
        size = 0
        # Most edges go in without an exchange; each of the others takes a search.
        for e in sorted(range(len(self.edges)), key=lambda e: -self.spare[e]):
            for i in range(self.k):
                if self.spare[e] and self._path(e, i) is None:
                    self._insert(e, i)
                    self.spare[e] -= 1
                    size += 1
        while size < self.k * (self.num_nodes - 1):
            if clock is not None and clock.expired:
                raise TimeoutError
            if not self._augment():
                return False
            size += 1
        return True

    def trees(self) -> list[EdgeTree]:
        """Return the edges of each forest."""
        return [
            tuple(sorted({e for neighbours in forest for e in neighbours.values()}))
            for forest in self.near
        ]

    def _augment(self) -> bool:
        """Add one spare edge to the forests along a shortest sequence of exchanges."""
        nowhere = self.k
        starts = [(e, nowhere) for e, spare in enumerate(self.spare) if spare]
        before: dict[tuple[int, int], tuple[int, int] | None] = dict.fromkeys(starts)
        queue = deque(starts)
        while queue:
            e, home = queue.popleft()
            for i in range(self.k):
                if i == home:
                    continue
                cycle = self._path(e, i)
                if cycle is None:
                    self._shift((e, home), i, before)
                    return True
                for f in cycle:
                    if (f, i) not in before:
                        before[f, i] = (e, home)
                        queue.append((f, i))
        return False

    def _shift(
        self,
        element: tuple[int, int],
        target: int,
        before: dict[tuple[int, int], tuple[int, int] | None],
    ) -> None:
        """Move each edge of the sequence into the place of the one after it."""
        moves = []
        step: tuple[int, int] | None = element
        while step is not None:
            moves.append((step[0], step[1], target))
            target, step = step[1], before[step]
        for e, home, _ in moves:
            if home == self.k:
                self.spare[e] -= 1
            else:
                u, v = self.edges[e]
                del self.near[home][u][v], self.near[home][v][u]
                self._hung[home] = None
        for e, _, goal in moves:
            self._insert(e, goal)

    def _insert(self, e: int, i: int) -> None:
        u, v = self.edges[e]
        self.near[i][u][v] = self.near[i][v][u] = e
        self._hung[i] = None

    def _path(self, e: int, i: int) -> list[int] | None:
        """Return the edges of forest i between the ends of e; None if there are none."""
        hung = self._hung[i]
        if hung is None:
            hung = self._hung[i] = self._hang(i)
        part, depth, parent, edge = hung
        u, v = self.edges[e]
        if part[u] != part[v]:
            return None
        path = []
        while u != v:
            if depth[u] < depth[v]:
                u, v = v, u
            path.append(edge[u])
            u = parent[u]
        return path

    def _hang(self, i: int) -> tuple[list[int], list[int], list[int], list[int]]:
        """Root each tree of forest i at a node: part, depth, parent, edge to it by node."""
        n, near = self.num_nodes, self.near[i]
        part, depth, parent, edge = [-1] * n, [0] * n, [-1] * n, [-1] * n
        for top in range(n):
            if part[top] >= 0:
                continue
            part[top] = top
            stack = [top]
            while stack:
                u = stack.pop()
                for v, e in near[u].items():
                    if part[v] < 0:
                        part[v], depth[v], parent[v], edge[v] = top, depth[u] + 1, u, e
                        stack.append(v)
        return part, depth, parent, edge


def multiplicity_matrix(network: Network, multiplicity: Sequence[int]) -> npt.NDArray[np.object_]:
    """Return the multiplicities of the edges as a symmetric matrix, shape (nodes, nodes)."""
    matrix = np.zeros((network.num_nodes, network.num_nodes), dtype=object)
    for (u, v), m in zip(network.edges, multiplicity, strict=True):
        matrix[u, v] = matrix[v, u] = m
    return matrix
