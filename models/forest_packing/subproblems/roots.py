"""Roots of undirected trees, which any worker may be: step 2 of algorithm A2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ..instance import ForestPackingInstance
from ..packing import Pair, Route


def heights(routes: Sequence[Route]) -> dict[int, int]:
    """Return the height of an undirected tree from each of its nodes.

    Parameters
    ----------
    routes : sequence of Route
        Logical edges in either direction, at least one.

    Notes
    -----
    A node is farthest from one of the two ends of a longest path, so three searches do.
    """
    neighbours: dict[int, list[int]] = {}
    for route in routes:
        neighbours.setdefault(route[0], []).append(route[-1])
        neighbours.setdefault(route[-1], []).append(route[0])
    one_end = _farthest(distances(neighbours, routes[0][0]))
    from_one = distances(neighbours, one_end)
    from_other = distances(neighbours, _farthest(from_one))
    return {v: max(d, from_other[v]) for v, d in from_one.items()}


def distances(neighbours: Mapping[int, Sequence[int]], start: int) -> dict[int, int]:
    """Return the hops from a node to every node that it reaches."""
    distance = {start: 0}
    found = [start]
    for u in found:
        for v in neighbours[u]:
            if v not in distance:
                distance[v] = distance[u] + 1
                found.append(v)
    return distance


def _farthest(distance: Mapping[int, int]) -> int:
    return min(distance, key=lambda v: (-distance[v], v))


def directed_from(root: int, routes: Sequence[Route]) -> tuple[Route, ...]:
    """Return an undirected tree's routes in the direction away from `root`."""
    at: dict[int, list[Route]] = {}
    for route in routes:
        at.setdefault(route[0], []).append(route)
        at.setdefault(route[-1], []).append(route[::-1])
    out: list[Route] = []
    found, seen = [root], {root}
    for u in found:
        for route in at.get(u, ()):
            if route[-1] not in seen:
                seen.add(route[-1])
                found.append(route[-1])
                out.append(route)
    return tuple(out)


def rooted_pairs(
    instance: ForestPackingInstance,
    trees: Sequence[tuple[tuple[Route, ...], Fraction]],
    shares: Mapping[int, Fraction] | None,
) -> list[Pair]:
    """Choose roots of undirected trees, which any worker may be.

    Parameters
    ----------
    instance : ForestPackingInstance
        Its stages determine if a tree reduces, broadcasts, or does both.
    trees : sequence of (routes, rate)
    shares : mapping of node to Fraction, or None
        Free shares: each tree's centre; of several the one with the smallest share so far, then
        the first. Given shares: nodes near the centre as long as they lack rate, so that a tree
        may be split between roots; at most one pair more for each root than there are trees.
    """
    total = sum((rate for _, rate in trees), Fraction(0))
    given = None if shares is None else {r: w * total for r, w in shares.items()}
    at_root = dict.fromkeys(range(instance.network.num_workers), Fraction(0))
    pairs = []
    for routes, rate in trees:
        height = heights(routes)
        workers = [v for v in height if v < instance.network.num_workers]
        left = rate
        while left > 0:
            if given is None:
                root = min(workers, key=lambda v: (height[v], at_root[v], v))
                part = left
            else:
                lacking = [r for r, rate_left in given.items() if rate_left > at_root[r]]
                root = min(lacking, key=lambda v: (height[v], at_root[v], v))
                part = min(left, given[root] - at_root[root])
            at_root[root] += part
            left -= part
            pairs.append(_pair(instance, root, routes, part))
    return pairs


def _pair(
    instance: ForestPackingInstance, root: int, routes: Sequence[Route], rate: Fraction
) -> Pair:
    away = directed_from(root, routes)
    if "reduce" not in instance.stages:
        return Pair(root, (), away, rate)
    inward = tuple(route[::-1] for route in away)
    return Pair(root, inward, None if "broadcast" in instance.stages else (), rate)
