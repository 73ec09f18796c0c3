"""The fewest trees of a pool, and the baseline that uses them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.baselines.blink import blink
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.formulations.tree_pairs import all_pairs
from gadgetopt.models.forest_packing.packing import Pair, congestion, to_solution, total_rate
from gadgetopt.models.forest_packing.subproblems.exact_rates import best_rates
from gadgetopt.models.forest_packing.subproblems.fewest_trees import fewest_trees
from gadgetopt.system.result import Limits

from ..brute_force import optimal_rate
from ..networks import (
    asked,
    cables,
    known,
    symmetric,
)

LIMITS = Limits(time_s=30)


def two_way_pairs(instance) -> list[Pair]:
    """Every tree of a symmetric network, rooted at its first worker."""
    return [
        replace(p, broadcast=None)
        for p in all_pairs(instance)
        if p.root == 0 and sorted(p.broadcast) == sorted(r[::-1] for r in p.reduce)
    ]


def fewest_by_force(instance, pool, target):
    for k in range(1, len(pool) + 1):
        for chosen in combinations(pool, k):
            if total_rate(best_rates(instance, chosen, LIMITS)) >= target:
                return k
    return None


def test_given_trees_get_their_best_rates():
    pool = two_way_pairs(known("H2"))
    plan = best_rates(known("H2"), pool, LIMITS)
    assert total_rate(plan) == Fraction(9, 2)
    assert congestion(known("H2"), plan) == 1


@pytest.mark.parametrize("seed", range(3))
def test_no_fewer_trees_reach_the_target(seed):
    instance = symmetric(np.random.default_rng(seed), workers=4, largest=5)
    pool = two_way_pairs(instance)
    best = total_rate(best_rates(instance, pool, LIMITS))
    for part in (Fraction(1, 2), Fraction(9, 10), Fraction(1)):
        found = fewest_trees(instance, pool, part * best * (1 - Fraction(1, 10**7)), LIMITS)
        assert total_rate(found.pairs) >= part * best * (1 - Fraction(1, 10**6))
        assert len(found.pairs) == found.at_least == fewest_by_force(instance, pool, part * best)


@pytest.mark.parametrize("backend", ["highs", "cpsat"])
def test_backends_agree_on_whole_steps(backend):
    instance = known("H2")
    pool = two_way_pairs(instance)
    found = fewest_trees(instance, pool, Fraction(4), LIMITS, step=Fraction(1, 2), backend=backend)
    assert len(found.pairs) == found.at_least == 1
    found = fewest_trees(
        instance, pool, Fraction(9, 2), LIMITS, step=Fraction(1, 2), backend=backend
    )
    assert len(found.pairs) == found.at_least == 3
    out_of_reach = fewest_trees(
        instance, pool, Fraction(9, 2), LIMITS, step=Fraction(1), backend=backend
    )
    assert out_of_reach.pairs == []


def test_cpsat_needs_a_step():
    with pytest.raises(ModelRefused):
        fewest_trees(known("H2"), two_way_pairs(known("H2")), Fraction(4), LIMITS, backend="cpsat")


# -- blink -----------------------------------------------------------------------------------------


def run_blink(instance, **parameters):
    outcome = blink(instance, LIMITS, **parameters)
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible, evaluation.violations
    assert evaluation.objective == outcome.claimed_objective
    return outcome


@pytest.mark.parametrize("unit_trees", [True, False])
def test_blink_broadcasts_on_the_dgx1_with_six_trees(unit_trees):
    # GPU 0 has six links of 25, so six unit trees and 150 are the most there can be.
    instance = known("DGX-1V", collective="broadcast", root_mode="fixed", root=0)
    outcome = run_blink(instance, unit_trees=unit_trees)
    assert outcome.claimed_objective >= Fraction(95, 100) * 150
    assert outcome.notes["trees_kept"] == 6
    if unit_trees:
        assert outcome.claimed_objective == 150


@pytest.mark.parametrize("name", ["H2", "H3", "H4", "H6"])
def test_blink_keeps_the_promised_part_of_the_rate(name):
    outcome = run_blink(known(name))
    roots = {tree.root for tree in outcome.solution.trees}
    assert len(roots) == 1
    assert float(outcome.claimed_objective) >= 0.95 * optimal_rate(known(name)) * (1 - 1e-6)


@pytest.mark.parametrize("collective", ["allgather", "reduce_scatter"])
def test_blink_serves_single_stages_from_one_root(collective):
    instance = asked(known("H7"), collective, "fixed")
    outcome = run_blink(instance)
    assert float(outcome.claimed_objective) >= 0.95 * optimal_rate(instance) * (1 - 1e-6)


@pytest.mark.parametrize("time_s", [0.02, 0.3])
def test_blink_stopped_early_has_a_part_of_its_rate(time_s):
    instance = known("DGX-1V")
    outcome = blink(instance, Limits(time_s=time_s))
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible, evaluation.violations
    assert outcome.claimed_objective >= Fraction(94, 100) * Fraction(
        outcome.notes["rate_of_all_trees"]
    )
    assert outcome.claimed_objective > 0


def test_blink_on_a_network_in_pieces_has_rate_zero():
    instance = known("H2").model_copy(update={"links": cables((0, 1, 4))})
    assert run_blink(instance).claimed_objective == 0


@pytest.mark.parametrize(
    ("instance", "field"),
    [
        (known("H7"), "links"),
        (known("H2", root_mode="uniform"), "root_mode"),
        (known("H2", stage_mode="sequential"), "stage_mode"),
        (known("H4", in_network=True), "in_network"),
    ],
)
def test_what_does_not_fit_is_refused_by_field(instance, field):
    with pytest.raises(ModelRefused, match=field):
        blink(instance, LIMITS)


def test_a_plan_of_given_trees_is_written_as_it_is():
    plan = best_rates(known("H2"), two_way_pairs(known("H2")), LIMITS)
    assert evaluate(known("H2"), to_solution(known("H2"), plan)).objective == Fraction(9, 2)
