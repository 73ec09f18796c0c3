"""Steiner trees cost what exact integers say and reach every worker."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.data.generate import topologies
from gadgetopt.models.forest_packing.subproblems.steiner import SteinerTrees
from gadgetopt.pieces.graphs.cheapest_trees import cost_matrix, steiner_costs

from ..networks import digraph

SEEDS = st.integers(0, 10**6)


@given(SEEDS, st.integers(2, 5), st.integers(0, 4))
@settings(max_examples=60, deadline=None)
def test_steiner_trees_cost_what_exact_integers_say_and_reach_every_worker(seed, workers, switches):
    rng = np.random.default_rng(seed)
    network = digraph(rng, workers, switches).network
    prices = rng.integers(0, 5, len(network.arcs))
    matrix, missing = cost_matrix(network.num_nodes, network.arcs, prices.tolist())
    expected = steiner_costs(matrix, workers, missing)
    trees = SteinerTrees(network)
    found = trees.price(network.tails, network.heads, prices.astype(float))
    for root in range(workers):
        if expected[root] >= missing:
            assert np.isinf(found[root])
            continue
        assert found[root] == expected[root]
        routes = trees.routes(root)
        assert sum(prices[network.arc_index[route]] for route in routes) == expected[root]
        heads = [v for _, v in routes]
        assert len(set(heads)) == len(heads)
        assert root not in heads
        assert set(range(workers)) <= {root, *heads}
        assert {u for u, _ in routes} <= {root, *heads}


def test_no_steiner_trees_for_more_than_ten_workers():
    with pytest.raises(ModelRefused, match="not for 11"):
        SteinerTrees(topologies.star(11).instance().network)
