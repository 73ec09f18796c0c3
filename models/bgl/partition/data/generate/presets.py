"""Presets: random graphs, uniformly drawn training nodes, and a sampler."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

import networkx as nx

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    import numpy as np

    from ...instance import BglPartitionInstance


@generator()
def quickstart(
    rng: np.random.Generator, *, nodes: int = 64, parts: int = 4, train_share: float = 0.25
) -> BglPartitionInstance:
    """A small graph of four communities.

    Return a graph of as many communities as parts, which every exact route closes.
    """
    return planted(rng, nodes=nodes, inside=4.0, outside=1.0, parts=parts, train_share=train_share)


@generator()
def paper(
    rng: np.random.Generator, *, nodes: int = 2000, parts: int = 8, train_share: float = 0.08
) -> BglPartitionInstance:
    """2,000 nodes of degree 25, the paper's fan-outs 15, 10, 5, for 8 servers.

    Return a graph of the mean degree and the share of training nodes of ogbn-products.

    The fan-outs are the paper's, 15, 10 and 5; the graph is a planted partition of far fewer nodes
    (reconstructed).
    """
    return planted(
        rng,
        nodes=nodes,
        inside=20.0,
        outside=5.0,
        parts=parts,
        train_share=train_share,
        fanouts="15,10,5",
        node_imbalance=0.05,
        train_imbalance=0.05,
    )


@generator()
def planted(
    rng: np.random.Generator,
    *,
    nodes: int = 120,
    inside: float = 4.5,
    outside: float = 0.8,
    parts: int = 2,
    train_share: float = 0.2,
    fanouts: str = "5,5",
    node_imbalance: float = 0.0,
    train_imbalance: float = 0.0,
) -> BglPartitionInstance:
    """Planted partition: so many neighbours within a community, so many beyond.

    Return a planted partition: communities of nearly equal size, one for each part.

    Parameters
    ----------
    rng : numpy.random.Generator
    nodes, parts : int
    inside, outside : float
        Neighbours that a node has on average in its community, and beyond it.
    train_share : float
        Share of the nodes that are training nodes, drawn uniformly, at least one.
    fanouts : str
        Separated by commas.
    node_imbalance, train_imbalance : float
    """
    if not 2 <= parts <= nodes:
        raise InputError(f"parts: {parts}, expected 2 to {nodes}, the number of nodes")
    edges: list[tuple[int, int]] = []
    community = nodes / parts
    chances = inside / max(1.0, community - 1), outside / max(1.0, nodes - community)
    for u in range(nodes):
        drawn = rng.random(nodes - u - 1)
        for v, x in enumerate(drawn.tolist(), start=u + 1):
            if x < chances[u % parts != v % parts]:
                edges.append((u, v))
    return _instance(
        rng, nodes, edges, parts, train_share, fanouts, node_imbalance, train_imbalance
    )


@generator()
def geometric(
    rng: np.random.Generator,
    *,
    nodes: int = 3000,
    radius: float = 0.035,
    parts: int = 4,
    train_share: float = 0.2,
    fanouts: str = "5,5",
    node_imbalance: float = 0.0,
    train_imbalance: float = 0.0,
) -> BglPartitionInstance:
    """Points in the unit square, neighbours within a radius.

    Return a random geometric graph: points of the unit square within a radius of each other.
    """
    graph = nx.random_geometric_graph(nodes, radius, seed=_seed(rng))
    return _instance(
        rng, nodes, graph.edges, parts, train_share, fanouts, node_imbalance, train_imbalance
    )


@generator()
def powerlaw_cluster(
    rng: np.random.Generator,
    *,
    nodes: int = 3000,
    edges_per_node: int = 5,
    triangles: float = 0.6,
    parts: int = 4,
    train_share: float = 0.2,
    fanouts: str = "5,5",
    node_imbalance: float = 0.0,
    train_imbalance: float = 0.0,
) -> BglPartitionInstance:
    """Power-law degrees with triangles (Holme and Kim).

    Return a graph of power-law degrees in which some new edges close triangles.
    """
    if not 1 <= edges_per_node <= nodes or not 0 <= triangles <= 1:
        raise InputError("edges_per_node: expected 1 to the number of nodes, triangles 0 to 1")
    graph = nx.powerlaw_cluster_graph(nodes, edges_per_node, triangles, seed=_seed(rng))
    return _instance(
        rng, nodes, graph.edges, parts, train_share, fanouts, node_imbalance, train_imbalance
    )


@generator()
def caveman(
    rng: np.random.Generator,
    *,
    cliques: int = 200,
    clique_nodes: int = 15,
    parts: int = 4,
    train_share: float = 0.2,
    fanouts: str = "5,5",
    node_imbalance: float = 0.0,
    train_imbalance: float = 0.0,
) -> BglPartitionInstance:
    """A ring of cliques, one edge of each leading to the next.

    Return a connected caveman graph: a ring of cliques, numbered at random.
    """
    if clique_nodes < 2:
        raise InputError(f"clique_nodes: {clique_nodes}, expected at least 2")
    graph = nx.connected_caveman_graph(cliques, clique_nodes)
    nodes = cliques * clique_nodes
    number = rng.permutation(nodes).tolist()
    edges = [(number[u], number[v]) for u, v in graph.edges]
    return _instance(
        rng, nodes, edges, parts, train_share, fanouts, node_imbalance, train_imbalance
    )


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def _instance(
    rng: np.random.Generator,
    nodes: int,
    edges: Iterable[tuple[int, int]],
    parts: int,
    train_share: float,
    fanouts: str,
    node_imbalance: float,
    train_imbalance: float,
) -> BglPartitionInstance:
    from ...instance import BglPartitionInstance

    if not 0 < train_share <= 1:
        raise InputError(f"train_share: {train_share}, expected more than 0 and at most 1")
    trained = rng.choice(nodes, max(1, round(train_share * nodes)), replace=False)
    return BglPartitionInstance(
        num_nodes=nodes,
        edges=tuple(sorted((min(e), max(e)) for e in edges if e[0] != e[1])),
        train_nodes=tuple(sorted(trained.tolist())),
        num_parts=parts,
        node_imbalance=_rational(node_imbalance),
        train_imbalance=_rational(train_imbalance),
        fanouts=fanouts_of(fanouts),
    )


def fanouts_of(text: str) -> tuple[int, ...]:
    """Return fan-outs written with commas.

    Raises
    ------
    InputError
        If they are no positive whole numbers.
    """
    cells = [cell.strip() for cell in text.split(",")]
    if not all(cell.isdecimal() and int(cell) > 0 for cell in cells):
        raise InputError(f"fanouts: {text!r}, expected positive whole numbers such as '15,10,5'")
    return tuple(map(int, cells))


def _rational(value: float) -> Fraction:
    return decimal_rational(value)
