"""Bounded depth: pricing is exact, and rates agree with the LP over all shallow pairs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.formulations import tree_pairs
from gadgetopt.models.forest_packing.outcome import depth
from gadgetopt.models.forest_packing.proving.certificate.check import check_bound
from gadgetopt.models.forest_packing.proving.exact.bounded_depth import bounded_depth
from gadgetopt.models.forest_packing.proving.exact.shallow_trees import ShallowTrees
from gadgetopt.models.forest_packing.subproblems.enumeration import arborescences
from gadgetopt.models.forest_packing.subproblems.exact_rates import solve_exactly
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits

from ...brute_force import optimal_rate
from ...networks import (
    asked,
    digraph,
    known,
    random_instance,
    symmetric,
)

LIMITS = Limits(time_s=30)


def solve(instance, limits=LIMITS):
    outcome = bounded_depth(instance, limits)
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible, evaluation.violations
    assert evaluation.objective == outcome.claimed_objective
    return outcome


def height(parent, root):
    below = [0] * len(parent)
    for v in range(len(parent)):
        u = v
        while u != root:
            u = parent[u]
            below[v] += 1
    return max(below)


@pytest.mark.parametrize("seed", range(5))
def test_cheapest_shallow_trees_agree_with_enumeration(seed):
    rng = np.random.default_rng(seed)
    n = 4
    cost = rng.integers(0, 10, (n, n)).astype(float)
    cost[rng.random((n, n)) < 0.2] = np.inf
    np.fill_diagonal(cost, np.inf)
    arcs = [(u, v) for u in range(n) for v in range(n) if np.isfinite(cost[u, v])]
    solved = ShallowTrees(n).solve(cost, n - 1)
    for r in range(n):
        trees = list(arborescences(arcs, n, r))
        for h in range(1, n):
            costs = [
                sum(cost[u, v] for v, u in enumerate(parent) if v != r)
                for parent in trees
                if height(parent, r) <= h
            ]
            assert solved.cost_of[h, r] == min(costs, default=np.inf)
            if costs:
                found = solved.tree(r, h)
                assert sum(cost[arc] for arc in found) == min(costs)
                parent = {v: u for u, v in found} | {r: r}
                assert height([parent[v] for v in range(n)], r) <= h


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("build", [symmetric, digraph])
def test_rates_agree_with_all_shallow_pairs(build, seed):
    rng = np.random.default_rng(seed)
    network = build(rng, workers=3, switches=int(rng.integers(2)), largest=5)
    collective = ["allreduce", "allgather", "reduce_scatter"][seed % 3]
    instance = asked(network, collective, ["free", "uniform", "fixed", "weights"][seed % 4])
    for most in range(1, 2 * len(instance.stages) + 1):
        limited = instance.model_copy(update={"max_depth": most})
        rate = solve_model(tree_pairs.build(limited), "highs").objective
        outcome = solve(limited)
        assert float(outcome.claimed_objective) == pytest.approx(rate, abs=1e-7)
        assert outcome.claimed_objective == outcome.dual_bound
        assert outcome.dual_bound == check_bound(limited, outcome.certificate)


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_depth_that_excludes_nothing_leaves_the_optimum(seed):
    instance = random_instance(seed, max_workers=4, max_switches=2)
    instance = instance.model_copy(update={"stage_mode": "overlap", "max_depth": 6})
    outcome = solve(instance)
    assert outcome.claimed_objective <= outcome.dual_bound
    rate = optimal_rate(instance)
    assert float(outcome.claimed_objective) == pytest.approx(rate, abs=1e-6)
    assert float(outcome.dual_bound) == pytest.approx(rate, abs=1e-6)


def rate_and_bound(name, depth):
    limited = known(name, max_depth=depth)
    outcome = bounded_depth(limited, LIMITS)
    return outcome.claimed_objective, outcome.dual_bound


def test_rates_grow_with_depth_as_known():
    assert rate_and_bound("H7", 2) == (Fraction(3, 2), Fraction(3, 2))
    assert rate_and_bound("H7", 3) == (Fraction(7, 3), Fraction(7, 3))
    assert rate_and_bound("H7", 4) == (Fraction(5, 2), Fraction(5, 2))
    # On a directed ring all trees are paths.
    assert [depth for depth in range(1, 5) if rate_and_bound("H5", depth)[0] > 0] == [4]


def test_depth_four_is_enough_on_the_dgx1():
    outcome = solve(known("DGX-1V", max_depth=4))
    assert outcome.claimed_objective == outcome.dual_bound == Fraction(600, 7)


def test_no_tree_so_shallow_has_rate_zero():
    outcome = solve(known("DGX-1V", max_depth=3))
    assert outcome.claimed_objective == outcome.dual_bound == 0
    assert "depth 3" in outcome.notes["disconnected"]


def test_a_network_without_links_has_rate_zero():
    instance = known("H2", max_depth=2).model_copy(update={"links": ()})
    outcome = solve(instance)
    assert outcome.claimed_objective == outcome.dual_bound == 0
    assert outcome.dual_bound == check_bound(instance, outcome.certificate)


def test_no_time_leaves_a_plan_or_none_and_no_wrong_bound():
    outcome = bounded_depth(known("DGX-1V", max_depth=5), Limits(time_s=0))
    assert outcome.limit_hit == "time_s"
    assert outcome.dual_bound is None or outcome.dual_bound >= Fraction(600, 7)


def test_linear_systems_are_solved_exactly():
    third = Fraction(1, 3)
    assert solve_exactly([[Fraction(3), Fraction(1)]], 1) == [third]
    assert solve_exactly([[Fraction(1), Fraction(1), Fraction(2)]], 2) is None
    rows = [[Fraction(1), Fraction(1)], [Fraction(1), Fraction(2)]]
    assert solve_exactly(rows, 1) is None


@pytest.mark.parametrize(
    ("instance", "field"),
    [
        (known("H2"), "max_depth"),
        (known("H2", max_depth=2, tree_budget=2), "tree_budget"),
        (known("H2", max_depth=2, equal_share=True), "equal_share"),
        (known("H2", max_depth=2, stage_mode="sequential"), "stage_mode"),
        (known("H4", max_depth=2, in_network=True), "in_network"),
        (symmetric(np.random.default_rng(0), workers=13, max_depth=4), "workers"),
    ],
)
def test_what_does_not_fit_is_refused_by_field(instance, field):
    with pytest.raises(ModelRefused, match=field):
        bounded_depth(instance, LIMITS)


def test_plans_are_as_shallow_as_asked():
    instance = symmetric(np.random.default_rng(3), workers=6, largest=9, max_depth=4)
    outcome = solve(instance)
    index = instance.network.index
    for tree in outcome.solution.trees:
        inward, outward = (
            tuple(tuple(index[v] for v in path) for path in paths)
            for paths in (tree.in_tree, tree.broadcast_tree)
        )
        assert depth(tree_pairs.Pair(index[tree.root], inward, outward, Fraction(1)), 6) <= 4
