"""Cost of a cheapest tree where prices are the same in both directions, in integers of any size.

A certificate of prices on a large network is checked with this in nearly linear time. If an arc
costs what its reverse costs, cheapest in- and out-trees of every root are one undirected tree: a
minimum spanning tree over the cheapest paths between workers that run through switches only. Those
paths need not all be computed (Mehlhorn): let every switch belong to its nearest worker, and every
cable between switches of different workers offer the path between these two that runs over it. For
any way to part the workers into two, a cheapest path across runs over some cable between nodes that
belong to different sides, and that cable's offer costs no more than the path.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence


def symmetric_tree_cost(
    num_workers: int, num_nodes: int, arcs: Sequence[tuple[int, int]], costs: Sequence[int]
) -> int | None:
    """Return the cost of a cheapest tree that spans the workers; None if there is none.

    Parameters
    ----------
    num_workers, num_nodes : int
        Nodes 0..num_workers-1 are workers.
    arcs : sequence of (tail, head)
        With every arc its reverse, at the same cost.
    costs : sequence of int
        Non-negative.
    """
    links: list[list[tuple[int, int]]] = [[] for _ in range(num_nodes)]
    for (u, v), cost in zip(arcs, costs, strict=True):
        links[u].append((v, cost))
    distance, nearest = _nearest_worker(num_workers, links)
    offers = sorted(
        (distance[u] + cost + distance[v], nearest[u], nearest[v])
        for (u, v), cost in zip(arcs, costs, strict=True)
        if u < v and nearest[u] != nearest[v] and nearest[u] >= 0 and nearest[v] >= 0
    )
    part = list(range(num_workers))
    total, joined = 0, 1
    for cost, u, v in offers:
        a, b = _find(part, u), _find(part, v)
        if a != b:
            part[a] = b
            total += cost
            joined += 1
    return total if joined == num_workers else None


def is_symmetric(arcs: Sequence[tuple[int, int]], costs: Sequence[int]) -> bool:
    """Whether every arc has a reverse arc of the same cost."""
    cost_of = dict(zip(arcs, costs, strict=True))
    return all(cost_of.get((v, u)) == cost for (u, v), cost in cost_of.items())


def _nearest_worker(
    num_workers: int, links: Sequence[Sequence[tuple[int, int]]]
) -> tuple[list[int], list[int]]:
    """Distance to, and number of, the nearest worker of every node; -1 where none reaches it."""
    distance = [0] * len(links)
    nearest = [*range(num_workers), *[-1] * (len(links) - num_workers)]
    done = [False] * len(links)
    heap = [(0, v, v) for v in range(num_workers)]
    while heap:
        d, u, worker = heapq.heappop(heap)
        if done[u]:
            continue
        done[u], distance[u], nearest[u] = True, d, worker
        for v, cost in links[u]:
            if not done[v] and v >= num_workers:
                heapq.heappush(heap, (d + cost, v, worker))
    return distance, nearest


def _find(part: list[int], v: int) -> int:
    while part[v] != v:
        part[v] = part[part[v]]
        v = part[v]
    return v
