"""An elimination order: the node whose elimination makes the smallest table comes next."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence


def elimination_order(
    sizes: Sequence[int], edges: Iterable[tuple[int, int, int]], last: Iterable[int] = ()
) -> list[int]:
    r"""Return the nodes in the greedy order.

    The table that eliminating o makes has :math:`\prod_{v \in N(o)} |K_v|` entries. Stale entries
    of the heap are skipped when they come up. OneFlow's eliminations of leaves, of parallel edges
    and of nodes between two others are the steps with at most two neighbours.

    Parameters
    ----------
    sizes : sequence of int
        Labels of every node; nodes of one label count as fixed.
    edges : iterable of (int, int, int)
        Pairs of nodes, and what is not looked at.
    last : iterable of int
        Nodes that stay.

    Returns
    -------
    list of int
        All nodes but those that stay.
    """
    return order_and_sums(sizes, edges, last)[0]


def order_and_sums(
    sizes: Sequence[int], edges: Iterable[tuple[int, int, int]], last: Iterable[int] = ()
) -> tuple[list[int], int]:
    """Return as `elimination_order`, and the entries of the tables over nodes and neighbours."""
    neighbours: list[set[int]] = [set() for _ in sizes]
    for u, v, _ in edges:
        if sizes[u] > 1 and sizes[v] > 1:
            neighbours[u].add(v)
            neighbours[v].add(u)
    tables = [1] * len(sizes)
    for o, around in enumerate(neighbours):
        for v in around:
            tables[o] *= sizes[v]
    staying = set(last)
    done = [o in staying for o in range(len(sizes))]
    heap = [(tables[o], o) for o in range(len(sizes)) if not done[o]]
    heapq.heapify(heap)
    order, sums = [], 0
    while heap:
        table, o = heapq.heappop(heap)
        if done[o] or table != tables[o]:
            continue
        done[o] = True
        order.append(o)
        sums += table * sizes[o]
        around = neighbours[o]
        for v in around:
            mine = neighbours[v]
            mine.discard(o)
            entries = tables[v] // sizes[o]
            more = around - mine
            if len(more) > 1:  # than v itself
                more.discard(v)
                mine |= more
                for w in more:
                    entries *= sizes[w]
            tables[v] = entries
            if not done[v]:
                heapq.heappush(heap, (entries, v))
    return order, sums
