"""Enumeration and counting of routes, arborescences and spanning trees of tiny networks.

For the formulations that have a column for each. Nothing here is needed to solve large instances.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

from ..network import Network
from ..packing import Route


def switch_routes(network: Network) -> dict[tuple[int, int], list[Route]]:
    """Return the simple paths between workers that have only switches inside (F7.3).

    Pairs without one are left out. Without switches these are the arcs.
    """
    routes: dict[tuple[int, int], list[Route]] = {}

    def extend(path: Route) -> None:
        for a in network.out_arcs[path[-1]]:
            v = network.arcs[a][1]
            if v in path:
                continue
            if v < network.num_workers:
                routes.setdefault((path[0], v), []).append((*path, v))
            else:
                extend((*path, v))

    for u in range(network.num_workers):
        extend((u,))
    return routes


def count_arborescences(nodes: int, multiplicity: Mapping[tuple[int, int], int], root: int) -> int:
    """Return the number of spanning out-arborescences from `root`, by the matrix-tree theorem.

    Parameters
    ----------
    nodes : int
    multiplicity : mapping
        Number of parallel arcs from u to v by (u, v).
    root : int
    """
    others = [v for v in range(nodes) if v != root]
    rows = [
        [
            sum(k for (_, head), k in multiplicity.items() if head == v)
            if u == v
            else -multiplicity.get((u, v), 0)
            for u in others
        ]
        for v in others
    ]
    return int(_determinant([[Fraction(x) for x in row] for row in rows]))


def arborescences(arcs: Sequence[tuple[int, int]], nodes: int, root: int) -> Iterator[list[int]]:
    """Yield the parents of every spanning out-arborescence from `root`; the root is its own parent.

    Each step costs a search of the graph and leads to an arborescence: no dead ends.

    Parameters
    ----------
    arcs : sequence of (tail, head)
        Each pair once.
    nodes, root : int
    """
    tails: list[list[int]] = [[] for _ in range(nodes)]
    for u, v in arcs:
        tails[v].append(u)
    tails[root] = [root]

    def fix_from(v: int) -> Iterator[list[int]]:
        if v == nodes:
            yield [choice[0] for choice in tails]
            return
        choices = tails[v]
        for u in choices:
            tails[v] = [u]
            if _reaches_all(tails, root):
                yield from fix_from(v + 1)
        tails[v] = choices

    if _reaches_all(tails, root):
        yield from fix_from(0)


def routings(
    parent: Sequence[int], root: int, routes: Mapping[tuple[int, int], list[Route]]
) -> Iterator[tuple[Route, ...]]:
    """Yield the arborescence's arcs (parent, child) as routes, in every combination."""
    pairs = [(u, v) for v, u in enumerate(parent) if v != root]
    return product(*(routes[pair] for pair in pairs))


def _reaches_all(tails: Sequence[Sequence[int]], root: int) -> bool:
    """Return True if every node is reached from the root."""
    reached = {root}
    grown = True
    while grown:
        new = {v for v, us in enumerate(tails) if v not in reached and not reached.isdisjoint(us)}
        reached |= new
        grown = bool(new)
    return len(reached) == len(tails)


def _determinant(matrix: list[list[Fraction]]) -> Fraction:
    """Return the determinant, by elimination in exact arithmetic."""
    n, sign = len(matrix), 1
    for k in range(n):
        pivot = next((i for i in range(k, n) if matrix[i][k]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
            sign = -sign
        for i in range(k + 1, n):
            factor = matrix[i][k] / matrix[k][k]
            for j in range(k, n):
                matrix[i][j] -= factor * matrix[k][j]
    return sign * math.prod((matrix[k][k] for k in range(n)), start=Fraction(1))
