"""Closures: paths run through switches only, and closure trees are minimum spanning trees."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.forest_packing.subproblems.closure import Closure, ClosureTrees

from ..networks import known, symmetric


def priced(network, prices):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(network.num_nodes))
    for (u, v), y in zip(network.arcs, prices, strict=True):
        graph.add_edge(u, v, weight=y)
    return graph


def switch_only_distances(network, prices):
    graph = priced(network, prices)
    workers = range(network.num_workers)
    out = np.full((len(workers), len(workers)), np.inf)
    for u, v in itertools.permutations(workers, 2):
        inside = graph.subgraph([u, v, *network.switches])
        if nx.has_path(inside, u, v):
            out[u, v] = nx.dijkstra_path_length(inside, u, v)
    return out


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(0, 4))
@settings(max_examples=60, deadline=None)
def test_distances_are_those_of_paths_through_switches_only(seed, workers, switches):
    rng = np.random.default_rng(seed)
    network = symmetric(rng, workers, switches).network
    closure = Closure(network)
    prices = rng.integers(0, 4, len(network.arcs)).astype(float)
    for _ in range(6):
        dist = closure.update(prices)
        assert np.array_equal(dist, switch_only_distances(network, prices))
        for u, v in itertools.permutations(range(workers), 2):
            if np.isfinite(dist[u, v]):
                route = closure.route(u, v)
                assert (route[0], route[-1]) == (u, v)
                assert all(s in network.switches for s in route[1:-1])
                arcs = [network.arc_index[arc] for arc in itertools.pairwise(route)]
                assert sum(prices[arcs]) == dist[u, v]
        # Mostly rising prices, so that kept paths are used again, and sometimes one that falls.
        prices = prices.copy()
        some = rng.integers(len(prices), size=2)
        prices[some] = np.maximum(0, prices[some] + rng.choice([-2, 1, 3]))


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_regions_of_workers_give_a_minimum_spanning_tree_of_the_closure(seed, workers, switches):
    rng = np.random.default_rng(seed)
    network = symmetric(rng, workers, switches).network
    weight = rng.integers(0, 4, len(network.edges)).astype(float)
    edge = {pair: e for e, pair in enumerate(network.edges)}
    prices = np.array([weight[edge[min(arc), max(arc)]] for arc in network.arcs])
    dist = switch_only_distances(network, prices)
    graph = nx.Graph()
    graph.add_weighted_edges_from(
        (u, v, dist[u, v])
        for u, v in itertools.combinations(range(workers), 2)
        if np.isfinite(dist[u, v])
    )
    trees = ClosureTrees(network)
    matrix = trees(weight)
    if graph.number_of_nodes() < workers or not nx.is_connected(graph):
        assert len(matrix) == 0
        return
    routes = [[v for v in row if v >= 0] for row in matrix.tolist()]
    assert nx.is_tree(nx.Graph((r[0], r[-1]) for r in routes))
    assert len(routes) == workers - 1
    assert all(s in network.switches for r in routes for s in r[1:-1])
    assert all(r[0] < workers and r[-1] < workers for r in routes)
    assert weight[trees.edges_of(matrix)].sum() == nx.minimum_spanning_tree(graph).size("weight")


def test_without_a_path_there_is_no_route():
    closure = Closure(known("H5").network)
    dist = closure.update(np.zeros(3))
    assert np.isinf(dist[1, 0])
    assert np.isinf(dist[0, 0])
    assert dist[0, 1] == 0
    with pytest.raises(ValueError, match="no path from 1 to 0"):
        closure.route(1, 0)
