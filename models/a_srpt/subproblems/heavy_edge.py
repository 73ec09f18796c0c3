r"""The two heavy-edge mappings: which replica of a job goes to which of the servers it was given.

The job graph has a vertex for every replica. Its edge weights are bytes per iteration, both ways
(reconstructed): :math:`W_{s,s} = 4 h_s / k_s` between two replicas of stage s, and
:math:`W_{s,s+1} = 2 A_s / (k_s k_{s+1})` between replicas of neighbouring stages. Both mappings
keep heavy edges inside a server (reconstructed readings of the paper's "heavy-edge" mapping):

- `heavy_edge` fills one server after the other, replica by replica (vertex form);
- `heavy_edge_contract` merges stages along heavy edges, then packs the clusters (contraction form).

Where stages have blocks of different sizes, a block is only put where all that wait still fit.

A mapping is local: `placement[s][l]` replicas of stage s on the l-th of the given servers. Weights
are integers of a common unit, so that equal weights are equal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from gadgetopt.numbers.tolerance import Number, decimal_rational
from gadgetopt.pieces.knapsack.bins import blocks_of, fit

#: Replicas of each stage (rows) on each of the given servers (columns).
LocalPlacement = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class JobGraph:
    """Replicas and edge weights of a job.

    Attributes
    ----------
    replicas : tuple of int
        :math:`k_s`.
    inside : tuple of int
        :math:`W_{s,s}`, 0 for a stage of one replica.
    between : tuple of int
        :math:`W_{s,s+1}`, one less than there are stages.
    unit_gbytes : Fraction
        One unit of weight, in GB per iteration.
    sizes : tuple of int
        Room that a replica of each stage takes on a server, as in `MappingTimes`.
    """

    replicas: tuple[int, ...]
    inside: tuple[int, ...]
    between: tuple[int, ...]
    unit_gbytes: Fraction
    sizes: tuple[int, ...]

    @property
    def room(self) -> int:
        """Room that all replicas take."""
        return sum(size * k for size, k in zip(self.sizes, self.replicas, strict=True))

    @cached_property
    def heaviest_first(self) -> tuple[tuple[int, int], ...]:
        """Pairs of stages with edges between them, heaviest edges first; ties by stage."""
        stages = len(self.replicas)
        pairs = [(a, b) for a in range(stages) for b in (a, a + 1) if b < stages]
        heavy = [(-w, a, b) for a, b in pairs if (w := self.weight(a, b)) > 0]
        return tuple((a, b) for _, a, b in sorted(heavy))

    @cached_property
    def incident(self) -> tuple[int, ...]:
        """Weight of all edges of a replica, by stage."""
        k = (0, *self.replicas, 0)
        before, after = (0, *self.between), (*self.between, 0)
        return tuple(
            (k[s + 1] - 1) * w + k[s] * before[s] + k[s + 2] * after[s]
            for s, w in enumerate(self.inside)
        )

    def weight(self, a: int, b: int) -> int:
        """Return the weight of an edge between replicas of two stages."""
        if a == b:
            return self.inside[a]
        return self.between[min(a, b)] if abs(a - b) == 1 else 0

    def cut(self, placement: Sequence[Sequence[int]]) -> int:
        """Return the weight of all edges between servers, eq. (4)."""
        total = 0
        for s, k in enumerate(self.replicas):
            if self.inside[s]:
                kept = sum(x * (x - 1) // 2 for x in placement[s])
                total += self.inside[s] * (k * (k - 1) // 2 - kept)
        for s, w in enumerate(self.between):
            if w:
                kept = sum(a * b for a, b in zip(placement[s], placement[s + 1], strict=True))
                total += w * (self.replicas[s] * self.replicas[s + 1] - kept)
        return total


def job_graph(
    replicas: Sequence[int],
    activation_gbytes: Sequence[Number],
    gradient_gbytes: Sequence[Number],
    sizes: Sequence[int] | None = None,
) -> JobGraph:
    """Return the graph of a job from its volumes, read as the decimals they are.

    `sizes` of blocks are all 1 if they are not given.
    """
    inside = [
        4 * decimal_rational(h) / k if k >= 2 else Fraction(0)
        for k, h in zip(replicas, gradient_gbytes, strict=True)
    ]
    between = [
        2 * decimal_rational(a) / (replicas[s] * replicas[s + 1])
        for s, a in enumerate(activation_gbytes)
    ]
    unit = Fraction(1, math.lcm(*(w.denominator for w in (*inside, *between))))
    return JobGraph(
        tuple(replicas),
        tuple(int(w / unit) for w in inside),
        tuple(int(w / unit) for w in between),
        unit,
        tuple(sizes) if sizes is not None else (1,) * len(replicas),
    )


def heavy_edge(graph: JobGraph, capacities: Sequence[int]) -> LocalPlacement:
    """Return the mapping that fills the servers in turn along heavy edges (vertex form).

    The replica with the heaviest edges to what is already on the server comes next; where nothing
    is connected, both ends of the heaviest edge left; else the replica that has the least to lose.
    Ties go to the lowest stage.

    Parameters
    ----------
    graph : JobGraph
    capacities : sequence of int
        Room of the given servers, in the order in which they are filled; the job's blocks fit.

    Notes
    -----
    O(g S), times the time of `fit` where blocks have several sizes.
    """
    stages = range(len(graph.replicas))
    left = list(graph.replicas)
    inside, before, after = graph.inside, (0, *graph.between), (*graph.between, 0)
    pairs, incident = graph.heaviest_first, graph.incident
    sizes, mixed = graph.sizes, len(set(graph.sizes)) > 1

    def may(at: int, room: int, put: tuple[int, ...]) -> bool:
        """Return True if replicas fit into what is left of a server, and all others then do."""
        rest = [k - put.count(s) for s, k in enumerate(left)]
        room -= sum(sizes[s] for s in put)
        return room >= 0 and fit(blocks_of(sizes, rest), (room, *capacities[at + 1 :]))

    columns = []
    for at, capacity in enumerate(capacities):
        room = capacity
        here = [0] * len(left)
        # Weight from what is on this server to one more replica of each stage; the slot after the
        # last stage takes what would fall beside it.
        connection = [0] * (len(left) + 1)
        while room > 0:
            able = [s for s in stages if left[s] and (not mixed or may(at, room, (s,)))]
            if not able:
                break
            put: tuple[int, ...] = ()
            heaviest = 0
            for s in able:
                if connection[s] > heaviest:
                    heaviest, put = connection[s], (s,)
            if not put and room >= 2:
                two = (e for e in pairs if left[e[0]] >= 1 + (e[0] == e[1]) and left[e[1]])
                put = next((e for e in two if not mixed or may(at, room, e)), ())
            if not put:
                put = (min(able, key=incident.__getitem__),)
            for s in put:
                here[s] += 1
                left[s] -= 1
                room -= sizes[s]
                connection[s - 1] += before[s]
                connection[s] += inside[s]
                connection[s + 1] += after[s]
        columns.append(here)
    return tuple(zip(*columns, strict=True))


def heavy_edge_contract(graph: JobGraph, capacities: Sequence[int]) -> LocalPlacement:
    """Return the mapping that merges stages along heavy edges, then packs them (contraction form).

    Stages larger than the largest server are cut into pieces of its size. Of all clusters that fit
    a server together, the pair with the largest weight between it is merged, as long as there is
    one. Clusters go to servers by best fit, largest first; one that fits nowhere fills the server
    with most GPUs left, whole stages first, and its rest is taken again. Where blocks of several
    sizes find no place in this way, the mapping is that of `heavy_edge`.

    Parameters
    ----------
    graph, capacities
        As in `heavy_edge`.
    """
    clusters, sizes = _merged(graph, max(capacities)), graph.sizes

    def size_of(cluster: dict[int, int]) -> int:
        return sum(sizes[s] * k for s, k in cluster.items())

    placement = [[0] * len(capacities) for _ in graph.replicas]
    free = list(capacities)
    waiting = sorted(clusters, key=lambda c: (-size_of(c), min(c)))
    while waiting:
        cluster = waiting.pop(0)
        size = size_of(cluster)
        fitting = [m for m, f in enumerate(free) if f >= size]
        if fitting:
            server = min(fitting, key=lambda m: (free[m], m))
            taken = cluster
        else:
            server = max(range(len(free)), key=lambda m: (free[m], -m))
            taken = _part(cluster, free[server], sizes)
            if not taken:
                return heavy_edge(graph, capacities)
            rest = {s: k - taken.get(s, 0) for s, k in cluster.items() if k > taken.get(s, 0)}
            waiting = sorted([*waiting, rest], key=lambda c: (-size_of(c), min(c)))
        for s, k in taken.items():
            placement[s][server] += k
        free[server] -= size_of(taken)
    return tuple(map(tuple, placement))


def _merged(graph: JobGraph, most: int) -> list[dict[int, int]]:
    """Return clusters of replicas, each a number of replicas by stage."""
    clusters, sizes = [], graph.sizes
    for s, k in enumerate(graph.replicas):
        piece = most // sizes[s]
        clusters += [{s: min(piece, k - done)} for done in range(0, k, piece)]
    while True:
        pairs = [
            (weight, -i, -j)
            for i, a in enumerate(clusters)
            for j, b in enumerate(clusters[i + 1 :], i + 1)
            if sum(sizes[s] * k for c in (a, b) for s, k in c.items()) <= most
            and (
                weight := sum(
                    graph.weight(s, u) * x * y for s, x in a.items() for u, y in b.items()
                )
            )
            > 0
        ]
        if not pairs:
            return clusters
        _, i, j = max(pairs)
        absorbed = clusters.pop(-j)
        for s, k in absorbed.items():
            clusters[-i][s] = clusters[-i].get(s, 0) + k


def _part(cluster: dict[int, int], room: int, sizes: Sequence[int]) -> dict[int, int]:
    """Return the part of a cluster that fills a server: whole stages, then a slice of the next."""
    taken: dict[int, int] = {}
    for s, k in sorted(cluster.items()):
        if sizes[s] * k <= room:
            taken[s] = k
            room -= sizes[s] * k
    for s, k in sorted(cluster.items()):
        if room >= sizes[s] and s not in taken:
            taken[s] = min(k, room // sizes[s])
            room -= sizes[s] * taken[s]
    return taken
