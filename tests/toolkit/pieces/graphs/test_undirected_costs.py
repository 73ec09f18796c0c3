"""With symmetric costs, trees of every root cost as much as one undirected tree."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.pieces.graphs.cheapest_trees import arborescence_costs, closure, cost_matrix
from gadgetopt.pieces.graphs.undirected_costs import is_symmetric, symmetric_tree_cost


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_with_symmetric_costs_every_root_has_the_same_tree(seed, terminals, others):
    rng = np.random.default_rng(seed)
    n = terminals + others
    edges = [(u, v) for v in range(n) for u in range(v) if rng.random() < 0.6]
    prices = rng.integers(0, 5, len(edges)).tolist()
    arcs = [*edges, *[(v, u) for u, v in edges]]
    costs = [*prices, *prices]
    assert is_symmetric(arcs, costs)
    matrix, missing = cost_matrix(n, arcs, costs)
    between = closure(matrix, range(terminals, n), missing)[:terminals, :terminals]
    of_roots = set(arborescence_costs(between))
    cost = symmetric_tree_cost(terminals, n, arcs, costs)
    assert (of_roots == {cost}) if cost is not None else (min(of_roots) >= missing)


def test_costs_that_differ_by_direction_are_not_symmetric():
    assert not is_symmetric([(0, 1), (1, 0)], [1, 2])
    assert not is_symmetric([(0, 1)], [1])
