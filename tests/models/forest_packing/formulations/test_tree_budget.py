"""Tree budgets: models find the best trees, and bounds hold for the whole problem."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from calling import called
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.formulations import tree_budget
from gadgetopt.models.forest_packing.formulations.tree_budget_cp import tree_budget_cp
from gadgetopt.models.forest_packing.instance import ForestPackingInstance
from gadgetopt.models.forest_packing.proving.certificate.check import check_bound
from gadgetopt.models.forest_packing.proving.exact.pair_budget import pair_budget_cp
from gadgetopt.models.forest_packing.subproblems.rate_grid import make_grid
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits

from ..networks import (
    asked,
    cables,
    digraph,
    known,
    symmetric,
)
from ..restricted_brute_force import (
    best_equal,
    best_of,
    pairs,
    two_way_trees,
)

LIMITS = Limits(time_s=30)

#: Four workers, all cables but one, of 1 GB/s each.
LESS_AN_EDGE = ForestPackingInstance(
    workers=(0, 1, 2, 3), links=cables((0, 1, 1), (1, 2, 1), (2, 3, 1), (0, 3, 1), (0, 2, 1))
)


def budget(instance, K, **fields):
    return instance.model_copy(update={"tree_budget": K, **fields})


def solve(method, instance, **parameters):
    outcome = called(method, instance, LIMITS, np.random.default_rng(0), **parameters)
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible, evaluation.violations
    assert evaluation.objective == outcome.claimed_objective
    assert outcome.dual_bound >= outcome.claimed_objective
    return outcome


def by_milp(instance):
    model = tree_budget.build(instance)
    solved = solve_model(model, "highs", LIMITS)
    solution = tree_budget.decode(model, instance)
    evaluation = evaluate(instance, solution)
    assert evaluation.feasible, evaluation.violations
    assert float(evaluation.objective) == pytest.approx(solved.objective, rel=1e-6)
    return solved


# -- trees used in both directions -----------------------------------------------------------------


@pytest.mark.parametrize(("K", "rate"), [(1, 50), (2, 75), (3, 75), (4, 75)])
def test_trees_used_both_ways_have_the_known_rates_on_the_dgx1(K, rate):
    instance = known("DGX-1V", tree_budget=K)
    outcome = solve(tree_budget_cp, instance)
    assert outcome.claimed_objective == rate
    assert outcome.notes["bound_of_trees_used_both_ways"] == str(rate)
    assert outcome.dual_bound == check_bound(instance, outcome.certificate)
    assert outcome.dual_bound == min(Fraction(600, 7), 50 * K)


@pytest.mark.slow
def test_five_trees_have_most_of_the_rate_of_the_dgx1():
    instance = known("DGX-1V", tree_budget=5)
    # 250/3 is within 3 % of the bound 600/7.
    limits = Limits(time_s=30, rel_gap=0.03)
    outcome = tree_budget_cp(instance, limits)
    assert outcome.claimed_objective >= Fraction(250, 3)


@pytest.mark.parametrize("seed", range(4))
def test_models_of_trees_used_both_ways_agree_with_brute_force(seed):
    network = symmetric(np.random.default_rng(seed), workers=4, largest=6)
    trees = two_way_trees(network)
    for K in (1, 2, 3):
        rate = best_of(network, trees, K)
        outcome = solve(tree_budget_cp, budget(network, K))
        assert float(outcome.claimed_objective) == pytest.approx(rate, rel=1e-12)
        assert Fraction(outcome.notes["bound_of_trees_used_both_ways"]) == outcome.claimed_objective
        solved = by_milp(budget(network, K))
        assert solved.objective == pytest.approx(rate, rel=1e-6)
        assert solved.bound == pytest.approx(rate, rel=1e-6)


def test_many_trees_are_modelled_by_loads_with_the_same_rate():
    network = symmetric(np.random.default_rng(1), workers=4, largest=6)
    rate = Fraction(tree_budget.rate_bound(network, 20))
    few = solve(tree_budget_cp, budget(network, 12), granularity=0.5)
    assert rate * Fraction(9, 10) <= few.claimed_objective <= rate


@given(st.integers(0, 10**6), st.sampled_from([0.3, 1.0, 2.0]))
@settings(max_examples=20, deadline=None)
def test_a_coarse_grid_gives_a_bound_of_all_rates(seed, granularity):
    network = symmetric(np.random.default_rng(seed), workers=4, largest=6)
    exact = solve(tree_budget_cp, budget(network, 3))
    coarse = solve(tree_budget_cp, budget(network, 3), granularity=granularity)
    assert coarse.claimed_objective <= exact.claimed_objective
    assert Fraction(coarse.notes["bound_of_trees_used_both_ways"]) >= exact.claimed_objective


def test_grids_contain_every_rate_that_a_vertex_can_have():
    # Three rows 1 1 0, 0 1 1, 1 0 1 of capacity 1: rates 1/2. Four rows can need thirds.
    assert make_grid(Fraction(1), 3, 1).step == Fraction(1, 2)
    assert make_grid(Fraction(1), 4, 1).step == Fraction(1, 6)
    assert make_grid(Fraction(2), 1, 2).step == 1
    assert make_grid(Fraction(1), 2, 2, Fraction(1, 24)).exact
    assert not make_grid(Fraction(1), 2, 2, Fraction(1, 8)).exact
    assert not make_grid(Fraction(1), 9, 1).exact


def test_a_grid_too_fine_for_the_solver_is_made_coarser():
    unit = Fraction(1, 10**16)
    grid = make_grid(unit, 2, 1, largest=Fraction(1))
    assert not grid.exact
    assert grid.steps(Fraction(1)) <= 2**40
    # Rounding two rates down loses less than two steps.
    assert grid.bound(grid.steps(Fraction(1)) - 1) >= 1
    with pytest.raises(ModelRefused, match="granularity"):
        make_grid(unit, 2, 1, unit, largest=Fraction(1))


@pytest.mark.parametrize("method", [tree_budget_cp, pair_budget_cp])
@pytest.mark.parametrize("capacities", [(1 / 3, 22 / 7, 0.7), (1.234567890123e-6, 1e6 / 3, 1 / 7)])
def test_capacities_without_a_common_unit_are_solved(method, capacities):
    links = cables(*zip((0, 1, 0), (1, 2, 2), capacities, strict=True))
    outcome = solve(method, ForestPackingInstance(workers=(0, 1, 2), links=links, tree_budget=2))
    best = sum(sorted(capacities)[:2])
    assert float(outcome.claimed_objective) == pytest.approx(best, rel=1e-5)
    assert float(outcome.dual_bound) == pytest.approx(best, rel=1e-5)


# -- pairs of different trees ----------------------------------------------------------------------


def test_different_trees_in_and_out_can_be_faster():
    # Pair 1 around a ring of four workers, in and out sharing two arcs: rate 1/2. The reverse ring
    # and the chord hold an in-tree and an out-tree without a common arc: rate 1. Two undirected
    # trees have six cables of five, so one is shared, and 1 is the sum of their rates.
    instance = budget(LESS_AN_EDGE, 2)
    assert solve(pair_budget_cp, instance).claimed_objective == Fraction(3, 2)
    assert solve(tree_budget_cp, instance).claimed_objective == 1


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("build", [symmetric, digraph])
def test_pairs_agree_with_brute_force(build, seed):
    network = build(np.random.default_rng(seed), workers=3, largest=5)
    for K in (1, 2):
        outcome = solve(pair_budget_cp, budget(network, K))
        rate = best_of(network, pairs(network), K)
        assert float(outcome.claimed_objective) == pytest.approx(rate, rel=1e-12)
        assert outcome.dual_bound == outcome.claimed_objective
        equal = solve(pair_budget_cp, budget(network, K, equal_share=True))
        assert equal.claimed_objective == equal.dual_bound == best_equal(network, pairs(network), K)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("collective", "root_mode"),
    [("allgather", "free"), ("reduce_scatter", "fixed"), ("allreduce", "fixed")],
)
def test_pairs_of_other_collectives_agree_with_brute_force(collective, root_mode, seed):
    network = digraph(np.random.default_rng(seed), workers=4, largest=5)
    instance = asked(network, collective, root_mode)
    for K in (1, 2):
        outcome = solve(pair_budget_cp, budget(instance, K))
        if collective == "allreduce" and K == 2:
            continue  # too many pairs of pairs to list
        rate = best_of(instance, pairs(instance), K)
        assert float(outcome.claimed_objective) == pytest.approx(rate, rel=1e-12)
        assert outcome.dual_bound == outcome.claimed_objective


@pytest.mark.parametrize("seed", range(3))
def test_half_duplex_pairs_agree_with_brute_force(seed):
    network = symmetric(np.random.default_rng(seed), workers=3, largest=5, duplex="half")
    outcome = solve(pair_budget_cp, budget(network, 2))
    assert float(outcome.claimed_objective) == pytest.approx(best_of(network, pairs(network), 2))


def test_shallow_pairs_keep_their_depth():
    # H7: one pair of two stars has 1, as star 1 uses 2->1 and 1->0 of capacity 1.
    for depth, rate in ((1, 0), (2, 1), (4, Fraction(3, 2))):
        outcome = solve(pair_budget_cp, budget(known("H7"), 1, max_depth=depth))
        assert outcome.claimed_objective == outcome.dual_bound == rate


# -- scope -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [tree_budget_cp, pair_budget_cp])
def test_a_network_in_pieces_has_rate_zero(method):
    instance = budget(known("H2"), 2).model_copy(update={"links": cables((0, 1, 4))})
    outcome = solve(method, instance)
    assert outcome.claimed_objective == outcome.dual_bound == 0


@pytest.mark.parametrize("method", [tree_budget_cp, pair_budget_cp])
def test_the_version_of_the_solver_is_stated(method):
    assert set(solve(method, budget(known("H2"), 1)).versions) == {"ortools"}


@pytest.mark.parametrize("method", [tree_budget_cp, pair_budget_cp])
def test_no_time_leaves_a_valid_bound(method):
    instance = known("DGX-1V", tree_budget=5)
    outcome = called(method, instance, Limits(time_s=0), np.random.default_rng(0))
    assert outcome.limit_hit == "time_s"
    assert outcome.dual_bound >= Fraction(250, 3)


@pytest.mark.parametrize(
    ("instance", "field", "methods"),
    [
        (known("H2"), "tree_budget", (tree_budget_cp, pair_budget_cp)),
        (known("H2", tree_budget=2, equal_share=True), "equal_share", (tree_budget_cp,)),
        (known("H2", tree_budget=2, max_depth=3), "max_depth", (tree_budget_cp,)),
        (known("H7", tree_budget=2), "links", (tree_budget_cp,)),
        (known("H4", tree_budget=2), "switches", (tree_budget_cp, pair_budget_cp)),
        (
            known("H2", tree_budget=2, root_mode="uniform"),
            "root_mode",
            (tree_budget_cp, pair_budget_cp),
        ),
        (
            known("H2", tree_budget=2, stage_mode="sequential"),
            "stage_mode",
            (tree_budget_cp, pair_budget_cp),
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_field(instance, field, methods):
    for method in methods:
        with pytest.raises(ModelRefused, match=field):
            called(method, instance, LIMITS, np.random.default_rng(0))


@pytest.mark.parametrize("method", [tree_budget_cp, pair_budget_cp])
def test_a_step_has_to_be_positive(method):
    with pytest.raises(ModelRefused, match="granularity"):
        called(
            method, known("H2", tree_budget=2), LIMITS, np.random.default_rng(0), granularity=0.0
        )
