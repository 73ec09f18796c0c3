"""The graph of the auto-parallel search, its eliminations, merging, and the way back.

Three eliminations keep the optimum: of a node with one neighbour (child elimination), of one with
two, which makes or changes the edge between them (node elimination), and of parallel edges, whose
tables are added (edge elimination; here an edge is a pair of nodes, so that they never arise).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ..subproblems.graph import FORBIDDEN, LabelGraph

#: Changes the labels that stand for an eliminated or merged node into its own.
_Unfold = Callable[[dict[int, int]], None]


class Reduction:
    """A graph of integer costs on nodes and pairs that shrinks while its optimum stays.

    Parameters
    ----------
    graph : LabelGraph

    Attributes
    ----------
    costs : dict from node to array
        Of the nodes that are left.
    edges : dict from node to dict from neighbour to array
        Tables of both directions; rows are the first node's labels.
    constant : int
        Cost of eliminated nodes without neighbours.
    """

    def __init__(self, graph: LabelGraph):
        self.costs: dict[int, Ints] = {o: graph.tables[t] for o, t in enumerate(graph.unary)}
        self.edges: dict[int, dict[int, Ints]] = {o: {} for o in self.costs}
        self.constant: int = 0
        self._unfolds: list[_Unfold] = []
        self._allowed: dict[tuple[int, int], int] = {}
        self._pairs: list[tuple[int, int, int]] = []
        for u, v, t in graph.edges:
            self._join(u, v, graph.tables[t])

    def _join(self, u: int, v: int, table: Ints) -> None:
        """Add costs to a pair of nodes."""
        if v in self.edges[u]:
            table = np.minimum(self.edges[u][v] + table, FORBIDDEN)
        self.edges[u][v], self.edges[v][u] = table, table.T
        pair, allowed = (min(u, v), max(u, v)), int((table < FORBIDDEN).sum())
        if self._allowed.get(pair) != allowed:
            self._allowed[pair] = allowed
            heapq.heappush(self._pairs, (allowed, *pair))

    def _drop(self, o: int) -> None:
        for v in self.edges.pop(o):
            del self.edges[v][o]
            self._allowed.pop((min(o, v), max(o, v)), None)
        del self.costs[o]

    def reduce(self, most_merged: int, expired: Callable[[], bool] = lambda: False) -> None:
        """Eliminate, and merge two nodes where no more can be eliminated, as far as possible.

        Parameters
        ----------
        most_merged : int
            Labels that a merged node may have; the pair of the fewest is merged first.
        expired : callable, optional
            Asked before every merging.
        """
        self.eliminate(self.edges)
        while len(self.costs) > 2 and not expired():
            merged = self.merge(most_merged)
            if merged is None:
                return
            self.eliminate([merged, *self.edges[merged]])

    def eliminate(self, nodes: Iterable[int]) -> None:
        """Eliminate these nodes, and their neighbours in turn, if they have at most two."""
        heap = [(len(self.edges[o]), o) for o in nodes]
        heapq.heapify(heap)
        while heap:
            degree, o = heapq.heappop(heap)
            if o not in self.edges or len(self.edges[o]) != degree or degree > 2:
                continue
            around = list(self.edges[o])
            self._eliminate(o, around)
            for v in around:
                heapq.heappush(heap, (len(self.edges[v]), v))

    def _eliminate(self, o: int, around: Sequence[int]) -> None:
        costs = self.costs[o]
        tables = [self.edges[o][v] for v in around]
        self._drop(o)
        if not around:
            self.constant += int(costs.min())
            best = int(costs.argmin())
            self._unfolds.append(lambda labels: labels.__setitem__(o, best))
        elif len(around) == 1:
            total = np.minimum(costs[:, None] + tables[0], FORBIDDEN)
            v, choice = around[0], total.argmin(axis=0)
            self.costs[v] = np.minimum(self.costs[v] + total.min(axis=0), FORBIDDEN)
            self._unfolds.append(lambda labels: labels.__setitem__(o, int(choice[labels[v]])))
        else:
            total = costs[:, None, None] + tables[0][:, :, None] + tables[1][:, None, :]
            u, v = around
            pair = total.argmin(axis=0)
            self._join(u, v, np.minimum(total.min(axis=0), FORBIDDEN))
            self._unfolds.append(
                lambda labels: labels.__setitem__(o, int(pair[labels[u], labels[v]]))
            )

    def merge(self, most_merged: int) -> int | None:
        """Merge the pair of the fewest allowed pairs of labels; None if none has few enough."""
        while self._pairs:
            allowed, u, v = heapq.heappop(self._pairs)
            if self._allowed.get((u, v)) != allowed:
                continue  # the pair has changed since
            if not 0 < allowed <= most_merged:
                return None
            self._merge(u, v)
            return u
        return None

    def _merge(self, u: int, v: int) -> None:
        """Make one node of two, named as the first, with their allowed pairs as labels."""
        table = self.edges[u][v]
        rows, columns = np.nonzero(table < FORBIDDEN)
        costs = self.costs[u][rows] + self.costs[v][columns] + table[rows, columns]
        joined = {w: t[rows] for w, t in self.edges[u].items() if w != v}
        for w, t in self.edges[v].items():
            if w != u:
                joined[w] = np.minimum(joined.get(w, 0) + t[columns], FORBIDDEN)
        self._drop(u)
        self._drop(v)
        self.costs[u] = np.minimum(costs, FORBIDDEN)
        self.edges[u] = {}
        for w, t in joined.items():
            self._join(u, w, t)

        def unfold(labels: dict[int, int]) -> None:
            pair = labels[u]
            labels[u], labels[v] = int(rows[pair]), int(columns[pair])

        self._unfolds.append(unfold)

    def unfolded(self, labels: dict[int, int]) -> list[int]:
        """Return labels of all nodes of the whole graph, given those of the nodes left."""
        found = dict(labels)
        for unfold in reversed(self._unfolds):
            unfold(found)
        return [found[o] for o in range(len(found))]

    def value(self, labels: dict[int, int]) -> int:
        """Return the cost of labels of the nodes left, at least `FORBIDDEN` if one is."""
        total = self.constant + sum(int(costs[labels[o]]) for o, costs in self.costs.items())
        for u, around in self.edges.items():
            total += sum(int(t[labels[u], labels[v]]) for v, t in around.items() if u < v)
        return total
