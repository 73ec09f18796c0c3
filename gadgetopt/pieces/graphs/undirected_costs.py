"""Cost of a cheapest tree through terminals where costs are symmetric, in integers of any size.

If every arc costs what its reverse costs, cheapest in- and out-trees of every root are one
undirected tree: a minimum spanning tree over the cheapest paths between terminals whose interior
nodes are no terminals. Those paths need not all be computed (Mehlhorn). Assign every other node to
its nearest terminal, and let every edge between nodes of different terminals offer the path between
these two terminals that runs over it. For any division of the terminals into two sides, a cheapest
path across runs over some edge whose ends belong to different sides, and that edge's offer costs no
more than the path. The time is nearly linear.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence


def symmetric_tree_cost(
    num_terminals: int, num_nodes: int, arcs: Sequence[tuple[int, int]], costs: Sequence[int]
) -> int | None:
    """Return the cost of a cheapest tree that joins the terminals; None if there is none.

    Parameters
    ----------
    num_terminals, num_nodes : int
        Nodes 0..num_terminals-1 are terminals.
    arcs : sequence of (tail, head)
        With every arc its reverse, at the same cost.
    costs : sequence of int
        Non-negative.
    """
    links: list[list[tuple[int, int]]] = [[] for _ in range(num_nodes)]
    for (u, v), cost in zip(arcs, costs, strict=True):
        links[u].append((v, cost))
    distance, nearest = _nearest_terminal(num_terminals, links)
    offers = sorted(
        (distance[u] + cost + distance[v], nearest[u], nearest[v])
        for (u, v), cost in zip(arcs, costs, strict=True)
        if u < v and nearest[u] != nearest[v] and nearest[u] >= 0 and nearest[v] >= 0
    )
    part = list(range(num_terminals))
    total, joined = 0, 1
    for cost, u, v in offers:
        a, b = _find(part, u), _find(part, v)
        if a != b:
            part[a] = b
            total += cost
            joined += 1
    return total if joined == num_terminals else None


def is_symmetric(arcs: Sequence[tuple[int, int]], costs: Sequence[int]) -> bool:
    """Return True if every arc has a reverse arc of the same cost."""
    cost_of = dict(zip(arcs, costs, strict=True))
    return all(cost_of.get((v, u)) == cost for (u, v), cost in cost_of.items())


def _nearest_terminal(
    num_terminals: int, links: Sequence[Sequence[tuple[int, int]]]
) -> tuple[list[int], list[int]]:
    """Return each node's distance from its nearest terminal, and that terminal (-1 if none)."""
    distance = [0] * len(links)
    nearest = [*range(num_terminals), *[-1] * (len(links) - num_terminals)]
    done = [False] * len(links)
    heap = [(0, v, v) for v in range(num_terminals)]
    while heap:
        d, u, terminal = heapq.heappop(heap)
        if done[u]:
            continue
        done[u], distance[u], nearest[u] = True, d, terminal
        for v, cost in links[u]:
            if not done[v] and v >= num_terminals:
                heapq.heappush(heap, (d + cost, v, terminal))
    return distance, nearest


def _find(part: list[int], v: int) -> int:
    while part[v] != v:
        part[v] = part[part[v]]
        v = part[v]
    return v
