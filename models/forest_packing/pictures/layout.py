"""Layout of networks in pictures, the same every time: positions of nodes and links in pixels.

Every link is a band on the right-hand side of the line from its source to its destination, as wide
as its capacity. The trees on it are strips side by side inside the band, as wide as their rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from gadgetopt.numbers.arrays import Floats

from ..network import Network

#: Largest extent of the nodes in pixels.
WIDTH, HEIGHT = 820.0, 560.0

#: Bands cover at most this part of the picture.
_COVERED = 0.35

#: Widths of the narrowest strip, and between the two directions of a link, in pixels.
_NARROWEST_STRIP, _GAP = 0.8, 3.0

#: From this many nodes on, positions come from springs, whose time grows more slowly.
_MANY_NODES = 150


@dataclass(frozen=True)
class Layout:
    """Positions and sizes in pixels.

    Attributes
    ----------
    position : ndarray, shape (nodes, 2)
    radius : float
        Of a node.
    per_gbyte_per_s : float
        Width of a band or strip.
    shared : bool
        True if both directions of a cable are in one band (half duplex).
    """

    position: Floats
    radius: float
    per_gbyte_per_s: float
    shared: bool

    def strip(self, u: int, v: int, start: float, width: float, *, tip: bool = True) -> Floats:
        """Return the corners of a strip from u to v, shape (5, 2).

        Parameters
        ----------
        start, width : float
            From the inner edge of the band, GB/s.
        tip : bool, default True
            True if the strip ends in an arrow's tip.
        """
        along, right, length = self._axes(u, v)
        inner = self._inner_edge(u, v, start)
        wide = max(width * self.per_gbyte_per_s, _NARROWEST_STRIP)
        a = self.position[u] + along * self.radius
        b = self.position[v] - along * self.radius
        neck = b - along * min(0.6 * wide + 3.0, 0.3 * length) * tip
        near, far, middle = (right * (inner + part * wide) for part in (0.0, 1.0, 0.5))
        return np.array([a + near, a + far, neck + far, b + middle, neck + near])

    def on_band(self, u: int, v: int, start: float, width: float) -> Floats:
        """Return a point in the middle of a strip, a bit nearer to u, shape (2,)."""
        _, right, _ = self._axes(u, v)
        offset = self._inner_edge(u, v, start) + width * self.per_gbyte_per_s / 2
        point: Floats = 0.6 * self.position[u] + 0.4 * self.position[v] + right * offset
        return point

    def _axes(self, u: int, v: int) -> tuple[Floats, Floats, float]:
        """Direction from u to v, the direction to its right, and the distance between nodes."""
        line = self.position[v] - self.position[u]
        length = float(np.hypot(*line))
        along = line / length
        right = np.array([along[1], -along[0]])
        if self.shared and u > v:  # in the band of the other direction
            right = -right
        return along, right, length - 2 * self.radius

    def _inner_edge(self, u: int, v: int, start: float) -> float:
        return _GAP / 2 + start * self.per_gbyte_per_s


def lay_out(network: Network, *, half_duplex: bool = False) -> Layout:
    """Lay out a network by its links alone (Kamada-Kawai, from a circle; large ones by springs)."""
    graph = nx.Graph()
    graph.add_nodes_from(range(network.num_nodes))
    graph.add_edges_from(network.edges)
    components = [sorted(c) for c in nx.connected_components(graph)]
    position = np.zeros((network.num_nodes, 2))
    left = 0.0
    for nodes in sorted(components):
        placed = _levelled(_placed(graph.subgraph(nodes), nodes))
        placed -= placed.min(axis=0)
        position[nodes] = placed + np.array([left, 0.0])
        left = float(position[nodes, 0].max()) + 0.6
    position -= position.min(axis=0)
    extent = np.maximum(position.max(axis=0), 1e-9)
    position *= float(min(WIDTH / extent[0], HEIGHT / extent[1]))
    apart = _closest(position)
    radius = float(np.clip(0.2 * apart, 6.5, 20.0))
    widest = float(max(network.capacity_float, default=1.0))
    ends = position[network.tails] - position[network.heads]
    area = float(np.hypot(*ends.T) @ network.capacity_float)
    band = min(radius / widest, _COVERED * WIDTH * HEIGHT / max(area, 1e-9))
    return Layout(position, radius, band, half_duplex)


def _placed(graph: Any, nodes: Sequence[int]) -> Floats:
    """Positions of a connected graph's nodes."""
    circle = nx.circular_layout(nodes)
    if len(nodes) <= 2:
        found = circle
    elif len(nodes) < _MANY_NODES:
        found = nx.kamada_kawai_layout(graph, pos=circle)
    else:
        found = nx.spring_layout(graph, pos=circle, seed=0, iterations=200)
    return np.array([found[v] for v in nodes])


def _levelled(position: Floats) -> Floats:
    """Turn the longer axis to the horizontal, the first node to the left and the top.

    A layout that is as wide as high (a ring, a grid) is left alone.
    """
    centred = position - position.mean(axis=0)
    spread, axes = np.linalg.eigh(centred.T @ centred)
    if spread[1] > 1.05 * spread[0] + 1e-9:
        centred = centred @ axes[:, ::-1]
    flip = np.where(centred[0] * [-1.0, 1.0] < -1e-9, -1.0, 1.0)
    turned: Floats = centred * flip
    return turned


def _closest(position: Floats) -> float:
    apart = np.hypot(*(position[:, None] - position[None]).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    return float(apart.min())
