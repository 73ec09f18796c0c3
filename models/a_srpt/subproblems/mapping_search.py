r"""Local search on a mapping, and the better one of the two heavy-edge mappings.

Moves: one replica, or all replicas of a stage, go from one server to another; or they swap servers
with those of another stage. The best improving move is made until there is none; the objective
is :math:`(\alpha, cut)`, lexicographically.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..iteration_time import MappingTimes
from ..mapping import sparse
from .heavy_edge import JobGraph, LocalPlacement, heavy_edge, heavy_edge_contract

#: A move: pairs of a change to a stage's replicas and the place where it is made.
_Move = tuple[tuple[int, int, int], ...]


def best_of(graph: JobGraph, times: MappingTimes, capacities: Sequence[int]) -> LocalPlacement:
    """Return the faster one of the two heavy-edge mappings, the vertex form of equal ones."""
    first = heavy_edge(graph, capacities)
    second = heavy_edge_contract(graph, capacities)
    return min((first, second), key=lambda placement: times.units(sparse(placement)))


def local_search(
    graph: JobGraph, times: MappingTimes, capacities: Sequence[int], placement: LocalPlacement
) -> LocalPlacement:
    """Return a mapping that no single move improves.

    Parameters
    ----------
    graph : JobGraph
    times : MappingTimes
    capacities : sequence of int
        Room of the given servers.
    placement : LocalPlacement
        Where the search begins.
    """
    x = [list(row) for row in placement]
    sizes = graph.sizes
    room = [
        c - sum(size * row[m] for size, row in zip(sizes, x, strict=True))
        for m, c in enumerate(capacities)
    ]

    def objective() -> tuple[int, int]:
        return times.units(sparse(x)), graph.cut(x)

    def make(move: _Move, sign: int = 1) -> None:
        for s, m, change in move:
            x[s][m] += sign * change
            room[m] -= sign * change * sizes[s]

    best = objective()
    while True:
        improving: _Move | None = None
        for move in _moves(x, room, sizes):
            make(move)
            value = objective()
            make(move, -1)
            if value < best:
                best, improving = value, move
        if improving is None:
            return tuple(map(tuple, x))
        make(improving)


def _moves(x: list[list[int]], room: list[int], sizes: Sequence[int]) -> Iterator[_Move]:
    """Yield all moves that respect the capacities."""
    stages, servers = range(len(x)), range(len(room))
    for s in stages:
        for a in servers:
            if not x[s][a]:
                continue
            for b in servers:
                if a == b:
                    continue
                for k in {1, x[s][a]}:
                    if sizes[s] * k <= room[b]:
                        yield (s, a, -k), (s, b, k)
                for u in range(s + 1, len(x)):
                    if x[u][b]:
                        if -room[a] <= sizes[s] - sizes[u] <= room[b]:
                            yield (s, a, -1), (s, b, 1), (u, b, -1), (u, a, 1)
                        k, n = x[s][a], x[u][b]
                        if k + n > 2 and -room[a] <= sizes[s] * k - sizes[u] * n <= room[b]:
                            yield (s, a, -k), (s, b, k), (u, b, -n), (u, a, n)
