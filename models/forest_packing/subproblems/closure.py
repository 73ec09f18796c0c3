"""The closure of a network: cheapest paths between workers that run through switches only.

Columns of F7.3. A path that passes through another worker is two logical arcs and not one, so every
worker is split into a source without in-arcs and a sink without out-arcs before shortest paths are
taken.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csgraph, csr_array

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.graphs.spanning import minimum_spanning_tree

from ..network import Network
from ..packing import Route


class Closure:
    """Shortest switch-only paths of a network under prices of its arcs.

    The paths from a worker are kept from one update to the next unless they may have changed:
    one of their prices rose, or any price fell.
    """

    def __init__(self, network: Network):
        self.network = network
        self._n = network.num_workers
        self._prices: Floats | None = None
        self._dist = np.full((self._n, self._n), np.inf)
        self._routes: list[dict[int, Route]] = [{} for _ in range(self._n)]
        if network.switches:
            self._split()

    def _split(self) -> None:
        network = self.network
        # Sources keep the numbers of workers and switches theirs; sinks come after all others.
        into_worker = network.heads < self._n
        tails = network.tails
        heads = np.where(into_worker, network.num_nodes + network.heads, network.heads)
        self._size = network.num_nodes + self._n
        self._order = np.lexsort((heads, tails))
        self._key = (tails * self._size + heads)[self._order]
        self._indices = heads[self._order].astype(np.int32)
        self._indptr = np.searchsorted(tails[self._order], np.arange(self._size + 1)).astype(
            np.int32
        )
        self._before = np.full((self._n, self._size), -1, dtype=np.int32)
        # True if the shortest-path tree of a worker runs over an arc.
        self._used = np.zeros((self._n, len(network.arcs)), dtype=bool)

    def update(self, prices: Floats) -> Floats:
        """Take new prices and return the price of the cheapest path between any two workers.

        Parameters
        ----------
        prices : ndarray, shape (arcs,)
            y_a >= 0 of each arc.

        Returns
        -------
        ndarray, shape (N, N)
            Row: where the path starts. Infinite where there is no path, and on the diagonal. The
            array is overwritten by the next update.
        """
        prices = np.array(prices, dtype=np.float64)
        if not self.network.switches:
            self._dist[self.network.tails, self.network.heads] = prices
        else:
            stale = self._stale(prices)
            if len(stale):
                self._shortest_paths(prices, stale)
        self._prices = prices
        return self._dist

    def _stale(self, prices: Floats) -> Ints:
        if self._prices is None or (prices < self._prices).any():
            return np.arange(self._n)
        risen = np.flatnonzero(prices > self._prices)
        return np.flatnonzero(self._used[:, risen].any(axis=1))

    def _shortest_paths(self, prices: Floats, sources: Ints) -> None:
        # Explicit zeros of a sparse graph are edges of price zero.
        graph = csr_array(
            (prices[self._order], self._indices, self._indptr), shape=(self._size, self._size)
        )
        dist, before = csgraph.dijkstra(graph, indices=sources, return_predecessors=True)
        for u in sources.tolist():
            self._routes[u].clear()
        self._dist[sources] = dist[:, self.network.num_nodes :]
        np.fill_diagonal(self._dist, np.inf)
        self._before[sources] = before
        self._used[sources] = False
        row, node = np.nonzero(before >= 0)
        position = np.searchsorted(
            self._key, before[row, node].astype(np.int64) * self._size + node
        )
        self._used[sources[row], self._order[position]] = True

    def route(self, u: int, v: int) -> Route:
        """Return the nodes of the cheapest path from worker u to worker v.

        Raises
        ------
        ValueError
            If there is none.
        """
        known = self._routes[u].get(v)
        if known is None:
            known = self._routes[u][v] = self._walk_back(u, v)
        return known

    def _walk_back(self, u: int, v: int) -> Route:
        if not np.isfinite(self._dist[u, v]):
            raise ValueError(f"no path from {u} to {v} runs through switches only")
        if not self.network.switches:
            return (u, v)
        path = [v]
        node = int(self._before[u, self.network.num_nodes + v])
        while node != u:
            path.append(node)
            node = int(self._before[u, node])
        return (u, *reversed(path))


class ClosureTrees:
    r"""Minimum spanning trees of the closure of an undirected network, without the closure.

    Every switch joins its nearest worker; a cable between switches of different workers u and v
    offers the path from u over it to v. A minimum spanning tree over these offers is one of the
    whole closure (Mehlhorn's argument for Steiner trees: a cheapest path between two workers that
    crosses several such regions can be replaced by offers that cost no more). So a tree takes one
    multi-source shortest-path computation and one sorting instead of N shortest-path trees.

    Parameters
    ----------
    network : Network
        Every arc has a reverse arc.
    """

    u: Ints
    v: Ints

    def __init__(self, network: Network):
        self.network = network
        edges = np.array(network.edges, dtype=np.int64).reshape(-1, 2)
        self.u, self.v = edges[:, 0], edges[:, 1]
        n = network.num_nodes
        tails, heads = np.concatenate((self.u, self.v)), np.concatenate((self.v, self.u))
        order = np.lexsort((heads, tails))
        self._edge = np.tile(np.arange(len(edges)), 2)[order]
        self._key = (tails * n + heads)[order]
        self._indices = heads[order].astype(np.int32)
        self._indptr = np.searchsorted(tails[order], np.arange(n + 1)).astype(np.int32)

    def __call__(self, weight: Floats) -> Ints:
        """Return the routes of a minimum spanning tree of the closure.

        Parameters
        ----------
        weight : ndarray, shape (edges,)
            Price >= 0 of each pair of `network.edges`.

        Returns
        -------
        ndarray of int, shape (N - 1, L)
            The nodes of each logical edge's path, padded with -1; empty if no tree spans the
            workers.
        """
        n, workers = self.network.num_nodes, self.network.num_workers
        graph = csr_array((weight[self._edge], self._indices, self._indptr), shape=(n, n))
        dist, before, region = csgraph.dijkstra(
            graph, indices=np.arange(workers), return_predecessors=True, min_only=True
        )
        u, v = self.u, self.v
        offer = np.flatnonzero(
            (region[u] != region[v]) & np.isfinite(dist[u]) & np.isfinite(dist[v])
        )
        a, b = region[u[offer]].astype(np.int64), region[v[offer]].astype(np.int64)
        price = dist[u[offer]] + weight[offer] + dist[v[offer]]
        chosen = offer[_spanning_offers(workers, a, b, price)]
        if len(chosen) < workers - 1:
            return np.empty((0, 2), dtype=np.int64)
        to_u, to_v = _walk(u[chosen], before), _walk(v[chosen], before)
        return np.concatenate((to_u[:, ::-1], to_v), axis=1)

    def edges_of(self, routes: Ints) -> Ints:
        """Return the edges that routes run over, each as often as it is used."""
        a, b = routes[:, :-1].ravel(), routes[:, 1:].ravel()
        real = (a >= 0) & (b >= 0)
        keys = a[real].astype(np.int64) * self.network.num_nodes + b[real]
        return self._edge[np.searchsorted(self._key, keys)]


def _spanning_offers(workers: int, a: Ints, b: Ints, price: Floats) -> Ints:
    """Choose offers between workers a and b that form a minimum spanning tree."""
    order = np.argsort(price, kind="stable")
    pair = np.minimum(a, b) * workers + np.maximum(a, b)
    _, first = np.unique(pair[order], return_index=True)
    cheapest = np.sort(order[first])
    return cheapest[minimum_spanning_tree(workers, a[cheapest], b[cheapest], price[cheapest])]


def _walk(nodes: Ints, before: Ints) -> Ints:
    """Return the nodes on the way back from `nodes`, one row each, padded with -1."""
    steps = [nodes]
    while (nodes >= 0).any():
        nodes = np.where(nodes >= 0, np.maximum(before[nodes], -1), -1)
        steps.append(nodes)
    return np.stack(steps[:-1], axis=1)
