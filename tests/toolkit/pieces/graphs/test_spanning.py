import itertools

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.pieces.graphs import spanning
from gadgetopt.pieces.graphs.spanning import SpanningTrees, minimum_spanning_tree


def plain_kruskal(n, u, v, weight):
    """Edges of the tree by Kruskal's algorithm, ties by edge index."""
    parent = list(range(n))

    def find(x):
        while parent[x] != x:
            x = parent[x]
        return x

    tree = []
    for e in sorted(range(len(u)), key=lambda e: (weight[e], e)):
        a, b = find(u[e]), find(v[e])
        if a != b and weight[e] < np.inf:
            parent[a] = b
            tree.append(e)
    return sorted(tree) if len(tree) == n - 1 else []


@st.composite
def graphs(draw):
    n = draw(st.integers(2, 7))
    pairs = list(itertools.combinations(range(n), 2))
    chosen = draw(st.permutations(pairs))[: draw(st.integers(1, len(pairs)))]
    flipped = [p[::-1] if draw(st.booleans()) else p for p in chosen]
    values = st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.5, -1.0, np.inf])
    weight = np.array([draw(values) for _ in flipped])
    return n, [p[0] for p in flipped], [p[1] for p in flipped], weight


@given(graphs())
@settings(max_examples=300, deadline=None)
def test_both_routes_return_the_first_tree_by_edge_index(graph):
    n, u, v, weight = graph
    expected = plain_kruskal(n, u, v, weight)
    for degree in (0, 100):
        spanning_degree, spanning.DENSE_DEGREE = spanning.DENSE_DEGREE, degree
        try:
            assert minimum_spanning_tree(n, u, v, weight).tolist() == expected
        finally:
            spanning.DENSE_DEGREE = spanning_degree


def test_zero_prices_are_edges_and_a_disconnected_graph_has_no_tree():
    assert minimum_spanning_tree(3, [0, 1, 0], [1, 2, 2], [0.0, 0.0, 0.0]).tolist() == [0, 1]
    assert minimum_spanning_tree(4, [0, 2], [1, 3], [1.0, 1.0]).tolist() == []
    assert minimum_spanning_tree(2, [0], [1], [np.inf]).tolist() == []


def test_one_graph_serves_many_prices():
    rng = np.random.default_rng(0)
    for density in (0.2, 1.0):
        graph = nx.gnp_random_graph(210, density, seed=1)
        u, v = np.array(graph.edges).T
        trees = SpanningTrees(210, u, v)
        for _ in range(5):
            weight = rng.random(len(u))
            for e, (a, b) in enumerate(zip(u, v, strict=True)):
                graph[a][b]["weight"] = weight[e]
            least = nx.minimum_spanning_tree(graph).size("weight")
            assert np.isclose(weight[trees(weight)].sum(), least)
