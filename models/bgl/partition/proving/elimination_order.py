"""Orders of the branched nodes with narrow frontiers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from gadgetopt.numbers.arrays import Bools, Ints

from .terms import Terms

#: First nodes that are tried. Tuned: `benchmarks/constants.py`.
MOST_STARTS = 12


def narrow_order(terms: Terms, stop: Callable[[], bool] = lambda: False) -> list[int]:
    """Return an order of the branched nodes whose frontiers are narrow.

    From several first nodes, the next is one beside the frontier that widens it least, of those the
    one with the most neighbours behind. The order of the least sum of :math:`k^{width}` is taken.

    Parameters
    ----------
    terms : Terms
    stop : callable
        Asked before every node. Once it says yes, what is left of the order follows by number, and
        no further first node is tried.
    """
    nodes = sorted(terms.pairs)
    if not nodes:
        return []
    near = neighbours(terms, nodes)
    by_degree = np.argsort(np.diff(near.indptr), kind="stable")
    step = max(1, len(nodes) // MOST_STARTS)
    best: tuple[int, list[int]] | None = None
    for start in by_degree[::step].tolist():
        if best is not None and stop():
            break
        found = _Walk(near, terms.parts).order(start, best[0] if best else None, stop)
        if found is not None:
            best = min(found, best) if best else found
    assert best is not None, "the first order is taken whatever it costs"
    return [nodes[v] for v in best[1]]


def neighbours(terms: Terms, nodes: list[int]) -> csr_array:
    """Return which branched nodes share a weight or a neighbour, by their places in `nodes`.

    Returns
    -------
    sparse array of int64, shape (nodes, nodes)
        Without a diagonal, its indices in ascending order; what is stored is there.
    """
    place = {v: at for at, v in enumerate(nodes)}
    centres: dict[int, int] = {}
    pairs = [(place[v], place[u]) for v in nodes for u in terms.pairs[v]]
    rays = [(place[v], centres.setdefault(u, len(centres))) for v in nodes for u in terms.stars[v]]
    direct = _zero_one(pairs, (len(nodes), len(nodes)))
    spokes = _zero_one(rays, (len(nodes), max(1, len(centres))))
    near = csr_array(direct + spokes @ spokes.T)
    near.setdiag(0)
    near.eliminate_zeros()
    near.sort_indices()
    return near


def _zero_one(entries: list[tuple[int, int]], shape: tuple[int, int]) -> csr_array:
    at = np.array(entries, dtype=np.int64).reshape(-1, 2)
    return csr_array((np.ones(len(at), dtype=np.int64), (at[:, 0], at[:, 1])), shape=shape)


class _Walk:
    """The order from one first node.

    Attributes
    ----------
    ahead : ndarray of int, shape (nodes,)
        Neighbours that the order does not have yet.
    leaving : ndarray of int, shape (nodes,)
        Nodes of the frontier whose last neighbour ahead it is.
    behind, frontier, beside : ndarray of bool, shape (nodes,)
        What the order has; of that what has a neighbour ahead; what has a neighbour there.
    """

    def __init__(self, near: csr_array, parts: int):
        n = near.shape[0]
        self.indptr, self.indices = near.indptr, near.indices
        self.parts = parts
        self.degree: Ints = np.diff(near.indptr).astype(np.int64)
        self.ahead: Ints = self.degree.copy()
        self.leaving: Ints = np.zeros(n, dtype=np.int64)
        self.behind: Bools = np.zeros(n, dtype=bool)
        self.frontier: Bools = np.zeros(n, dtype=bool)
        self.beside: Bools = np.zeros(n, dtype=bool)

    def order(
        self, start: int, most: int | None, stop: Callable[[], bool]
    ) -> tuple[int, list[int]] | None:
        """Return the sum of widths and the order; None if the sum passes `most`."""
        found: list[int] = []
        work, width = 0, 0
        self.beside[start] = True
        while len(found) < len(self.ahead):
            if stop():
                if most is not None:
                    return None
                return work, [*found, *np.flatnonzero(~self.behind).tolist()]
            v = self._next()
            width += self._take(v)
            found.append(v)
            work += self.parts**width
            if most is not None and work > most:
                return None
        return work, found

    def _next(self) -> int:
        """Return the node that widens the frontier least, then has the fewest neighbours ahead."""
        beside = np.flatnonzero(self.beside)
        if not len(beside):  # a new component begins where its nodes have few neighbours
            rest = np.flatnonzero(~self.behind)
            return int(rest[np.argmin(self.degree[rest])])
        widening = (self.ahead[beside] > 0) - self.leaving[beside]
        key = widening * (len(self.ahead) + 1) + self.ahead[beside]
        return int(beside[np.argmin(key)])

    def _take(self, v: int) -> int:
        """Put a node into the order; return by how much the frontier widens."""
        near = self._near(v)
        known = near[self.frontier[near]]
        self.ahead[near] -= 1
        self.frontier[known[self.ahead[known] == 0]] = False
        self.behind[v], self.beside[v] = True, False
        self.beside[near[~self.behind[near]]] = True
        change = -int((self.ahead[known] == 0).sum())
        last = known[self.ahead[known] == 1].tolist()
        if self.ahead[v]:
            self.frontier[v] = True
            change += 1
            if self.ahead[v] == 1:
                last.append(v)
        for u in last:
            there = self._near(u)
            self.leaving[there[~self.behind[there]]] += 1
        return change

    def _near(self, v: int) -> Ints:
        near: Ints = self.indices[self.indptr[v] : self.indptr[v + 1]]
        return near
