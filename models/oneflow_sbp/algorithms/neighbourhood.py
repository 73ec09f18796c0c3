"""Search on a reduced graph: a feasible start, and exhaustive choice in small neighbourhoods."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from math import prod

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.memory import MOST_CELLS

from ..subproblems.graph import FORBIDDEN
from .reduction import Reduction

#: Nodes that a depth-first search for a feasible start visits before it gives up, for each node.
#: Tuned: `benchmarks/constants.py`.
_VISITS = 50


def feasible_start(graph: Reduction, expired: Callable[[], bool]) -> dict[int, int] | None:
    """Return labels without a forbidden pair, found depth first; None if the search gives up.

    Nodes are visited breadth first from the one whose edges allow the smallest share of pairs, its
    cut ratio, and of the next ones that with the smallest ratio first.
    """
    order = _by_cut_ratio(graph)
    position = {o: k for k, o in enumerate(order)}
    before = [[v for v in graph.edges[o] if position[v] < k] for k, o in enumerate(order)]
    labels: dict[int, int] = {}
    untried: list[list[int]] = []
    left = _VISITS * len(order) + 1000
    while len(labels) < len(order):
        left -= 1
        if left < 0 or expired():
            return None
        k = len(labels)
        if len(untried) == k:
            untried.append(_allowed(graph, order[k], before[k], labels))
        if untried[k]:
            labels[order[k]] = untried[k].pop()
        elif k == 0:
            return None
        else:
            untried.pop()
            del labels[order[k - 1]]
    return labels


def _allowed(graph: Reduction, o: int, before: Sequence[int], labels: dict[int, int]) -> list[int]:
    """Return the labels that allow those given before, the cheapest last."""
    costs = graph.costs[o] + sum(
        (graph.edges[o][v][:, labels[v]] for v in before), np.zeros_like(graph.costs[o])
    )
    order = np.argsort(costs, kind="stable")[::-1]
    return [int(k) for k in order if costs[k] < FORBIDDEN]


def _by_cut_ratio(graph: Reduction) -> list[int]:
    def ratio(o: int) -> float:
        around = graph.edges[o].values()
        return min((float((t < FORBIDDEN).mean()) for t in around), default=1.0)

    ratios = {o: ratio(o) for o in graph.costs}
    order: list[int] = []
    seen: set[int] = set()
    for root in sorted(ratios, key=lambda o: (ratios[o], o)):
        if root in seen:
            continue
        seen.add(root)
        queue = deque([root])
        while queue:
            o = queue.popleft()
            order.append(o)
            around = [v for v in graph.edges[o] if v not in seen]
            seen.update(around)
            queue.extend(sorted(around, key=lambda v: (ratios[v], v)))
    return order


def improve(
    graph: Reduction,
    labels: dict[int, int],
    ring: int,
    expired: Callable[[], bool],
    told: Callable[[dict[int, int]], None] = lambda _: None,
) -> dict[int, int]:
    """Return labels that no neighbourhood improves, or those reached when the time is up.

    Nodes wait in a queue. The labels of a node and of up to `ring` of its neighbours at a time are
    chosen anew, the best of all; where one changed, the nodes within two steps wait again. Each
    node is visited at most as often as there are nodes. Fewer neighbours are chosen together where
    their joint labels would not fit into a table of `MOST_CELLS` (ours).

    Parameters
    ----------
    graph : Reduction
    labels : dict
        Of every node, without a forbidden pair.
    ring : int
    expired : callable
    told : callable
        Told of the labels after each change.
    """
    labels = dict(labels)
    queue = deque(labels)
    waiting = set(queue)
    visits = len(labels) ** 2
    while queue and visits > 0 and not expired():
        visits -= 1
        o = queue.popleft()
        waiting.discard(o)
        around = list(graph.edges[o])
        for part in _parts(graph, o, around, ring):
            if expired():
                break
            if _choose_anew(graph, labels, part):
                told(labels)
                near = {o, *around, *(w for v in around for w in graph.edges[v])}
                queue.extend(sorted(near - waiting))
                waiting |= near
    return labels


def _parts(graph: Reduction, o: int, around: Sequence[int], ring: int) -> Iterator[list[int]]:
    """Yield a node with up to `ring` of its neighbours at a time."""
    at = 0
    while at < max(len(around) if ring else 0, 1):
        part = [o, *around[at : at + ring]]
        while len(part) > 2 and _largest_table(graph, part) > MOST_CELLS:
            part.pop()
        yield part
        at += max(len(part) - 1, 1)


def _largest_table(graph: Reduction, nodes: Sequence[int]) -> int:
    """Return the entries of the largest table of `_cheapest`."""
    tables = [{u, v} for k, u in enumerate(nodes) for v in nodes[k + 1 :] if v in graph.edges[u]]
    largest = 0
    for o in reversed(nodes):
        joint = {o}.union(*(ends for ends in tables if o in ends))
        largest = max(largest, prod(len(graph.costs[v]) for v in joint))
        tables = [ends for ends in tables if o not in ends] + [joint - {o}]
    return largest


def _choose_anew(graph: Reduction, labels: dict[int, int], nodes: Sequence[int]) -> bool:
    """Give a few nodes their best labels with all others fixed; True if that is cheaper."""
    own = {}
    for o in nodes:
        costs = graph.costs[o].copy()
        for v, table in graph.edges[o].items():
            if v not in nodes:
                costs += table[:, labels[v]]
        own[o] = np.minimum(costs, FORBIDDEN)
    pairs = [
        (u, v, graph.edges[u][v])
        for k, u in enumerate(nodes)
        for v in nodes[k + 1 :]
        if v in graph.edges[u]
    ]
    now = sum(int(own[o][labels[o]]) for o in nodes)
    now += sum(int(t[labels[u], labels[v]]) for u, v, t in pairs)
    value, found = _cheapest(own, pairs)
    if value >= now:
        return False
    labels.update(found)
    return True


def _cheapest(
    costs: dict[int, Ints], pairs: Sequence[tuple[int, int, Ints]]
) -> tuple[int, dict[int, int]]:
    """Return the least cost of a few nodes and their labels.

    The last of them is chosen for every choice of those it shares a pair with, and so on: as
    exhaustive as trying all, and faster.
    """
    nodes = list(costs)
    axes = {o: k for k, o in enumerate(nodes)}
    shape = [len(costs[o]) for o in nodes]

    def spread(table: Ints, *ends: int) -> Ints:
        return table.reshape([shape[axes[o]] if o in ends else 1 for o in nodes])

    tables = [({o}, spread(costs[o], o)) for o in nodes]
    tables += [({u, v}, spread(t, u, v)) for u, v, t in pairs]
    steps = []
    for o in reversed(nodes):
        mine = [t for ends, t in tables if o in ends]
        around = {v for ends, _ in tables if o in ends for v in ends} - {o}
        total = mine[0]
        for table in mine[1:]:
            total = np.minimum(total + table, FORBIDDEN)
        steps.append((o, total.argmin(axis=axes[o], keepdims=True)))
        tables = [entry for entry in tables if o not in entry[0]]
        tables.append((around, total.min(axis=axes[o], keepdims=True)))
    labels: dict[int, int] = {}
    for o, best in reversed(steps):
        at = tuple(labels.get(v, 0) if best.shape[axes[v]] > 1 else 0 for v in nodes)
        labels[o] = int(best[at])
    return int(sum(int(table.reshape(-1)[0]) for ends, table in tables if not ends)), labels
