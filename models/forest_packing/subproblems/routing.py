"""Routing of the baselines' transfers: hop-shortest paths, and their loads.

A baseline's logical transfer from u to v takes a path of fewest hops, at each node the next hop of
smallest index. Unlike the arcs of optimal trees it may run through other workers, which then only
forward.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from scipy.sparse import csgraph, csr_array

from ..network import Network
from ..packing import Route


class Routing:
    """Hop-shortest paths of a network, the next hop being the one of smallest index.

    Parameters
    ----------
    network : Network
    """

    def __init__(self, network: Network):
        self.network = network
        n = network.num_nodes
        tails, heads = network.tails, network.heads
        backwards = csr_array((np.ones(len(tails)), (heads, tails)), shape=(n, n))
        # Hops to each worker from each node, shape (workers, nodes).
        hops = csgraph.dijkstra(backwards, unweighted=True, indices=range(network.num_workers))
        self._next = np.full(hops.shape, -1, dtype=np.int64)
        for v in range(network.num_workers):
            nearer = np.isfinite(hops[v, heads]) & (hops[v, tails] == hops[v, heads] + 1)
            # Arcs are sorted: written backwards, the one of the smallest head is written last.
            self._next[v, tails[nearer][::-1]] = heads[nearer][::-1]

    @property
    def connected(self) -> bool:
        """True if every worker reaches every other one."""
        n = self.network.num_workers
        return all(self._next[v, u] >= 0 for v in range(n) for u in range(n) if u != v)

    def route(self, u: int, v: int) -> Route:
        """Return the nodes on the way from one worker to another one that it reaches."""
        path = [u]
        while path[-1] != v:
            path.append(int(self._next[v, path[-1]]))
        return tuple(path)


def fullest(network: Network, routes: Iterable[Route]) -> Fraction:
    """Return the largest load/capacity of a row if 1 GB runs over each route: its time in s."""
    load = [Fraction(0)] * len(network.arcs)
    for route in routes:
        for arc in itertools.pairwise(route):
            load[network.arc_index[arc]] += 1
    return max(
        (
            on_row / row.capacity
            for on_row, row in zip(network.row_loads(load), network.rows, strict=True)
        ),
        default=Fraction(0),
    )
