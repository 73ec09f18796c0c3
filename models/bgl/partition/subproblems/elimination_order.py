"""Orders of the branched nodes with narrow frontiers."""

from __future__ import annotations

from itertools import combinations

from ..terms import Terms

#: First nodes that are tried.
MOST_STARTS = 12


def narrow_order(terms: Terms) -> list[int]:
    """Return an order of the branched nodes whose frontiers are narrow.

    From several first nodes, the next is one beside the frontier that widens it least, of those the
    one with the most neighbours behind. The order of the least sum of :math:`k^{width}` is taken.
    """
    near = neighbours(terms)
    if not near:
        return []
    by_degree = sorted(near, key=lambda v: (len(near[v]), v))
    step = max(1, len(by_degree) // MOST_STARTS)
    found = [_order(near, start, terms.parts) for start in by_degree[::step]]
    return min(found)[1]


def neighbours(terms: Terms) -> dict[int, set[int]]:
    """Return for every branched node those that share a weight or a neighbour with it."""
    near = {v: set(others) for v, others in terms.pairs.items()}
    rays: dict[int, list[int]] = {}
    for v, centres in terms.stars.items():
        for centre in centres:
            rays.setdefault(centre, []).append(v)
    for members in rays.values():
        for a, b in combinations(members, 2):
            near[a].add(b)
            near[b].add(a)
    return near


def _order(near: dict[int, set[int]], start: int, parts: int) -> tuple[int, list[int]]:
    ahead = {v: len(others) for v, others in near.items()}
    todo, beside = set(near), {start}
    frontier: set[int] = set()
    order: list[int] = []
    work = 0
    while todo:
        # A new component begins where its nodes have few neighbours.
        candidates = beside or {min(todo, key=lambda v: (len(near[v]), v))}
        v = min(candidates, key=lambda v: (_widening(near, ahead, frontier, v), ahead[v], v))
        for u in near[v]:
            ahead[u] -= 1
            if u in frontier and not ahead[u]:
                frontier.remove(u)
        if ahead[v]:
            frontier.add(v)
        todo.remove(v)
        beside = (beside | (near[v] & todo)) - {v}
        order.append(v)
        work += parts ** len(frontier)
    return work, order


def _widening(near: dict[int, set[int]], ahead: dict[int, int], frontier: set[int], v: int) -> int:
    leaving = sum(1 for u in near[v] & frontier if ahead[u] == 1)
    return (ahead[v] > 0) - leaving
