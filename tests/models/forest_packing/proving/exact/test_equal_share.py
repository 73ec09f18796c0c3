"""Equal shares: every method finds the optimum, and bounds hold for the whole problem."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from calling import called
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.formulations import equal_share_models
from gadgetopt.models.forest_packing.formulations.equal_share_models import (
    equal_share_cp,
    equal_share_milp,
)
from gadgetopt.models.forest_packing.proving.certificate.check import check_bound
from gadgetopt.models.forest_packing.proving.exact import equal_share
from gadgetopt.models.forest_packing.proving.exact.equal_share import equal_share_partition
from gadgetopt.models.forest_packing.subproblems import equal_trees
from gadgetopt.models.forest_packing.subproblems.cable_trees import (
    TreeUnion,
    strength,
)
from gadgetopt.system.result import Limits

from ...networks import (
    asked,
    cables,
    known,
    symmetric,
)
from ...restricted_brute_force import (
    best_equal,
    pairs,
    two_way_trees,
)

LIMITS = Limits(time_s=30)
METHODS = {
    "partition": equal_share_partition,
    "milp": equal_share_milp,
    "milp_cpsat": partial(equal_share_milp, backend="cpsat"),
    "cp": equal_share_cp,
}


def solve(method, instance, limits=LIMITS):
    outcome = called(METHODS[method], instance, limits, np.random.default_rng(0))
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible, evaluation.violations
    assert evaluation.objective == outcome.claimed_objective
    assert outcome.dual_bound >= outcome.claimed_objective
    return outcome


# Exactly K trees on the DGX-1V: 50, 50, 75, 200/3, 125/2, 75, 80 (K = 8), 250/3 (10), 75 (12),
# 325/4 (13).
EXACTLY = {
    1: 50,
    2: 50,
    3: 75,
    4: Fraction(200, 3),
    5: Fraction(125, 2),
    6: 75,
    8: 80,
    10: Fraction(250, 3),
    12: 75,
    13: Fraction(325, 4),
}


@pytest.mark.parametrize("method", ["partition", "cp"])
def test_exactly_k_trees_have_the_known_rates(method, monkeypatch):
    for K, rate in EXACTLY.items():
        if method == "cp" and K == 5:
            continue  # seconds
        only = lambda instance, tau, K=K: [K]  # noqa: E731
        for module in (equal_share, equal_trees):
            monkeypatch.setattr(module, "tree_counts", only)
        instance = known("DGX-1V", tree_budget=K, equal_share=True)
        outcome = solve(method, instance)
        assert outcome.claimed_objective == outcome.dual_bound == rate


@pytest.mark.parametrize("method", METHODS)
def test_at_most_k_trees_are_as_good_as_the_best_number_of_trees(method):
    for K, rate in ((1, 50), (2, 50), (3, 75), (4, 75)):
        instance = known("DGX-1V", tree_budget=K, equal_share=True)
        outcome = solve(method, instance)
        assert outcome.claimed_objective == outcome.dual_bound == rate
    # H2: one to four trees have 4, nine reach the optimum 9/2.
    for K, rate in ((1, 4), (2, 4), (3, 4), (4, 4), (9, Fraction(9, 2))):
        instance = known("H2", tree_budget=K, equal_share=True)
        outcome = solve(method, instance)
        assert outcome.claimed_objective == outcome.dual_bound == rate


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_routes_agree_with_brute_force(method, seed):
    network = symmetric(np.random.default_rng(seed), workers=4, largest=5)
    trees = two_way_trees(network)
    for K in (1, 2, 3):
        instance = network.model_copy(update={"tree_budget": K, "equal_share": True})
        outcome = solve(method, instance)
        assert outcome.claimed_objective == outcome.dual_bound == best_equal(network, trees, K)


@pytest.mark.parametrize("seed", range(4))
def test_pairs_of_different_trees_gain_nothing_at_equal_shares(seed):
    network = symmetric(np.random.default_rng(seed), workers=3, largest=4)
    for K in (2, 3):
        instance = network.model_copy(update={"tree_budget": K, "equal_share": True})
        outcome = solve("partition", instance)
        assert outcome.claimed_objective == best_equal(network, pairs(network), K)


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_enough_equal_trees_reach_the_tree_packing_number(seed):
    instance = symmetric(np.random.default_rng(seed), workers=5, largest=4, equal_share=True)
    outcome = solve("partition", instance)
    tau = strength(instance.network).value * instance.network.unit
    assert outcome.claimed_objective == outcome.dual_bound == tau
    assert outcome.dual_bound == check_bound(instance, outcome.certificate)


@given(st.integers(0, 10**6), st.integers(1, 6))
@settings(max_examples=15, deadline=None)
def test_union_finds_as_many_trees_as_the_partition_promises(seed, k):
    network = symmetric(np.random.default_rng(seed), workers=6, largest=3).network
    multiplicity = [network.int_capacity[network.arc_index[e]] for e in network.edges]
    union = TreeUnion(network.num_nodes, network.edges, multiplicity, k)
    assert union.fill() == (strength(network).value >= k)
    used = np.zeros(len(multiplicity), dtype=int)
    for tree in union.trees():
        used[list(tree)] += 1
    assert (used <= multiplicity).all()


def test_the_note_names_a_partition_at_which_less_congestion_fails():
    instance = known("DGX-1V", tree_budget=5, equal_share=True)
    notes = solve("partition", instance).notes
    smaller = Fraction(notes["smaller_congestion"])
    part = {v: i for i, nodes in enumerate(notes["fails_at_partition"]) for v in nodes}
    crossing = sum(
        smaller * Fraction(link.bandwidth_gbyte_per_s) // 1
        for link in instance.links
        if part[link.src] != part[link.dst]
    )
    assert crossing < notes["trees"] * (len(notes["fails_at_partition"]) - 1)


@pytest.mark.parametrize("root_mode", ["fixed", "uniform", "weights"])
def test_roots_get_whole_numbers_of_trees(root_mode):
    instance = asked(known("DGX-1V"), "allreduce", root_mode).model_copy(
        update={"tree_budget": 12, "equal_share": True}
    )
    outcome = solve("partition", instance)
    # Uniform shares of 8 workers leave 8 trees, the weights 1/4 and 3/4 multiples of 4: 8 and 12.
    assert outcome.claimed_objective == {"fixed": Fraction(250, 3)}.get(root_mode, 80)


def test_fewer_trees_than_roots_have_no_rate():
    instance = asked(known("H2"), "allreduce", "uniform").model_copy(
        update={"tree_budget": 2, "equal_share": True}
    )
    outcome = solve("partition", instance)
    assert outcome.claimed_objective == outcome.dual_bound == 0


@pytest.mark.parametrize("method", METHODS)
def test_a_network_in_pieces_has_rate_zero(method):
    instance = known("H2").model_copy(
        update={"links": cables((0, 1, 4)), "tree_budget": 2, "equal_share": True}
    )
    outcome = solve(method, instance)
    assert outcome.claimed_objective == outcome.dual_bound == 0
    assert outcome.certificate is not None


@pytest.mark.parametrize("method", METHODS)
def test_no_time_leaves_a_valid_bound(method):
    instance = known("DGX-1V", tree_budget=9, equal_share=True)
    outcome = called(METHODS[method], instance, Limits(time_s=0), np.random.default_rng(0))
    assert outcome.limit_hit == "time_s"
    assert outcome.dual_bound >= 80  # which eight trees have


@pytest.mark.parametrize(
    ("instance", "field"),
    [
        (known("H2", tree_budget=2), "equal_share"),
        (known("H7", equal_share=True), "links"),
        (known("H4", equal_share=True), "switches"),
        (known("H2", equal_share=True, stage_mode="sequential"), "stage_mode"),
        (known("H2", equal_share=True, collective="allgather"), "collective"),
        (known("H2", equal_share=True, max_depth=3), "max_depth"),
        (known("H2", equal_share=True, duplex="half"), "links"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_what_does_not_fit_is_refused_by_field(method, instance, field):
    with pytest.raises(ModelRefused, match=field):
        called(METHODS[method], instance, LIMITS, np.random.default_rng(0))


def test_congestion_of_the_pure_integer_form_is_a_multiple_of_a_common_unit():
    model = equal_share_models.build(known("H2", equal_share=True), 2, pure_integer=True)
    assert model.U.lb == 2  # congestion 1/2 in quarters: L = 4, K / tau = 4/9 rounds up to 1/2
