"""Costs of cheapest arborescences and Steiner trees against other algorithms and enumeration."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.pieces.graphs.arborescence import minimum_arborescences
from gadgetopt.pieces.graphs.cheapest_trees import (
    arborescence_costs,
    closure,
    cost_matrix,
    steiner_costs,
)

SEEDS = st.integers(0, 10**6)


@given(SEEDS, st.sampled_from([1, 10**25]))
@settings(max_examples=60)
def test_arborescence_costs_are_those_of_minimum_arborescences(seed, unit):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v and rng.random() < 0.5]
    costs = [int(rng.integers(0, 5)) * unit for _ in pairs]
    matrix, missing = cost_matrix(n, pairs, costs)
    found = [c if c < missing else None for c in arborescence_costs(matrix)]
    other = np.full((n, n), np.inf, dtype=object)
    for pair, c in zip(pairs, costs, strict=True):
        other[pair] = c
    assert found == [c if c != np.inf else None for c in minimum_arborescences(other).cost]


@given(SEEDS, st.integers(2, 6))
@settings(max_examples=60, deadline=None)
def test_a_steiner_tree_of_all_nodes_is_a_minimum_arborescence(seed, n):
    rng = np.random.default_rng(seed)
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v and rng.random() < 0.6]
    matrix, missing = cost_matrix(n, pairs, rng.integers(0, 5, len(pairs)).tolist())
    found = [min(cost, missing) for cost in steiner_costs(matrix, n, missing)]
    assert found == [min(cost, missing) for cost in arborescence_costs(matrix)]


def test_the_closure_runs_through_the_given_nodes_only():
    matrix, missing = cost_matrix(4, [(0, 2), (2, 1), (0, 3), (3, 1)], [3, 4, 1, 1])
    assert closure(matrix, [2], missing)[0, 1] == 7
    assert closure(matrix, [2, 3], missing)[0, 1] == 2
    assert closure(matrix, [], missing)[0, 1] == missing
