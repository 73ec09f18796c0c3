"""The tree-pair LP over all pairs, over given ones, and over shallow ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.formulations import tree_pairs
from gadgetopt.models.forest_packing.outcome import depth
from gadgetopt.models.forest_packing.packing import Pair
from gadgetopt.solvers import solve_model

from ..networks import (
    COLLECTIVES,
    ROOT_MODES,
    asked,
    digraph,
    known,
    symmetric,
)


def rate(model):
    return solve_model(model, "highs").objective


def test_as_many_pairs_are_listed_as_counted():
    for seed in range(10):
        network = digraph(np.random.default_rng(seed), workers=3, switches=1)
        for collective in COLLECTIVES:
            for root_mode in ROOT_MODES:
                instance = asked(network, collective, root_mode)
                pairs = tree_pairs.all_pairs(instance)
                assert len(set(pairs)) == len(pairs) == tree_pairs.num_pairs(instance)


def test_given_trees_get_the_best_rates_they_can_have():
    # H2 with the two trees {01,12} and {01,02}: cable 01 of 4 serves both, 02 of 1 the second.
    chain = Pair(1, ((0, 1), (2, 1)), None, Fraction(1))
    fork = Pair(0, ((1, 0), (2, 0)), None, Fraction(1))
    for pairs, expected in (([chain], 4.0), ([fork], 1.0), ([chain, fork], 4.0), ([], 0.0)):
        model = tree_pairs.build_restricted(known("H2"), pairs)
        assert rate(model) == pytest.approx(expected)
        plan = tree_pairs.decode(model, known("H2"))
        assert sum(tree.rate_gbyte_per_s for tree in plan.trees) == Fraction(expected)


def test_a_root_without_trees_leaves_nothing_where_it_must_have_a_share():
    chain = Pair(1, ((0, 1), (2, 1)), None, Fraction(1))
    assert rate(tree_pairs.build_restricted(known("H2", root_mode="uniform"), [chain])) == 0


def test_pairs_outnumber_the_limit_on_four_workers_around_two_switches():
    instance = symmetric(np.random.default_rng(0), workers=4, switches=2)
    assert tree_pairs.num_pairs(instance) > tree_pairs.MAX_PAIRS
    with pytest.raises(ModelRefused, match="more than 20000 pairs of trees"):
        tree_pairs.build(instance)


def test_a_depth_limit_leaves_shallow_pairs_only():
    rates = []
    for limit in range(1, 7):
        instance = known("H3", max_depth=limit)
        assert all(
            depth(p, instance.network.num_workers) <= limit for p in tree_pairs.all_pairs(instance)
        )
        rates.append(rate(tree_pairs.build(instance)))
    # H3 is a cycle of four: no tree is of height 1, and all pairs are of depth 6 at most.
    assert rates[:3] == [0, 0, 0]
    assert rates == sorted(rates)
    assert rates[-1] == pytest.approx(3)
