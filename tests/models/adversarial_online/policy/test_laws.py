"""Theorems, perturbed policies, predictions, refusals and limits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.adversarial_online.policy.data.generate import presets
from gadgetopt.models.adversarial_online.policy.evaluate import evaluate, most_units
from gadgetopt.models.adversarial_online.policy.features import features
from gadgetopt.models.adversarial_online.policy.guarantees import ratios
from gadgetopt.models.adversarial_online.policy.instance import AdversarialOnlinePolicySolution

from .brute_force import game, kept, random_game, run, worst

THEOREMS = {
    "share_policy": (ratios.shares_ratio, {}),
    "share_policy:draw=static": (ratios.shares_ratio, {}),
    "exponential_draw": (ratios.exponential_ratio, {}),
    "exponential_draw:draw=static": (ratios.exponential_ratio, {}),
    "finite_table": (ratios.finite_ratio, {}),
    "exponential": (ratios.table_ratio, {"flat": True}),
    "exponential:flat=false": (ratios.table_ratio, {"flat": False}),
    "greedy": (ratios.greedy_ratio, {}),
}


@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(THEOREMS)))
def test_no_policy_is_better_than_optimal_or_worse_than_its_theorem(seed, method):
    instance = random_game(np.random.default_rng(seed))
    found, best = run(instance, method), run(instance)
    assert best.status == "optimal"
    assert found.objective >= best.objective
    promised, parameters = THEOREMS[method]
    ratio = promised(instance, parameters)
    assert float(found.objective / best.objective) <= float(ratio) * (1 + 1e-9)


@given(st.integers(0, 2**32 - 1))
def test_the_share_that_is_kept_is_the_largest(seed):
    instance = random_game(np.random.default_rng(seed))
    share = run(instance).solution.kept_share
    assert worst(instance, kept(share)) == 1 / share
    if share < 1:
        more = evaluate(instance, kept(min(Fraction(1), share * Fraction(1000001, 1000000))))
        assert [v.constraint for v in more.violations] == ["capacity"]
        assert share * most_units(instance) == instance.capacity_units


@given(st.integers(0, 2**32 - 1))
def test_longer_games_are_harder_and_more_units_do_not_help_the_adversary(seed):
    instance = random_game(np.random.default_rng(seed))
    best = run(instance).objective
    longer = instance.model_copy(update={"horizon": instance.horizon + 1})
    more = instance.model_copy(update={"capacity_units": instance.capacity_units + 1})
    assert run(longer).objective >= best
    assert run(more).objective <= best


def test_a_tree_that_sells_too_much_or_nothing_is_rejected():
    instance = game([1, 2], 1, 2)
    best = run(instance, "history_tree@highs").solution.sale_probability
    full = AdversarialOnlinePolicySolution(sale_probability=(Fraction(1),) * len(best))
    assert "capacity" in {v.constraint for v in evaluate(instance, full).violations}
    none = AdversarialOnlinePolicySolution(sale_probability=(Fraction(0),) * len(best))
    assert [v.constraint for v in evaluate(instance, none).violations] == ["finite_ratio"]
    short = AdversarialOnlinePolicySolution(sale_probability=best[:-1])
    assert [v.constraint for v in evaluate(instance, short).violations] == [
        "one_probability_a_history"
    ]


def test_more_consistency_costs_robustness():
    # Levels 1, 4, one unit, prediction 1, 4: x1 + 4 x2 >= 4c with x1 + x2 = 1, so
    # x1 = (4 - 4c)/3, and the ratio is the larger of 1/x1 and 4/(4c): at 8/5 both are 7/4.
    before = 0.0
    for consistency in (Fraction(1, 2), Fraction(4, 7), Fraction(3, 4), Fraction(9, 10)):
        instance = game([1, 4], 1, 2, predictions=((0, 1),), consistency=consistency)
        found = run(instance)
        assert found.status == "optimal"
        wanted = max(Fraction(7, 4), 3 / (4 - 4 * consistency))
        assert float(found.objective) == pytest.approx(float(wanted), rel=1e-9)
        assert float(found.objective) >= before
        before = float(found.objective)
        assert run(instance, "history_tree@highs").objective == pytest.approx(before, rel=1e-9)


def test_predictions_that_exclude_each_other_are_infeasible():
    # All of 1 on the sequence 1, and all of 4 on 1, 4, with one unit.
    instance = game([1, 4], 1, 2, predictions=((0,), (0, 1)), consistency=Fraction(1))
    for method in ("minimax", "history_tree@highs"):
        assert run(instance, method).status == "infeasible"


def test_games_beyond_a_method_are_refused_in_one_line():
    large = game(range(1, 13), 12, 100)
    for method in ("kept_share", "double_oracle", "history_tree@highs", "matrix_game"):
        found = run(large, method)
        assert found.refused, method
        assert "\n" not in found.reason
    assert run(large, "hardest_chain").bound_voucher == "verified"
    assert run(game([1, 2], 1, 2, "regret"), "kept_share").refused


def test_a_stopped_double_oracle_says_so():
    found = run(game(range(1, 7), 2, 6), "double_oracle", time_s=0.0)
    assert found.limit_hit == "time_s"


@pytest.mark.parametrize("draw", [presets.quickstart, presets.random_grid, presets.predicted])
def test_every_preset_is_closed_with_a_certificate(draw):
    instance = draw(np.random.default_rng(2))
    found = run(instance)
    assert found.status == "optimal"
    assert found.bound_voucher == "verified"
    assert all(np.isfinite(list(features(instance).values())))


def test_the_paper_preset_is_closed_by_its_bound():
    instance = presets.paper(np.random.default_rng(0))
    assert run(instance).status == "optimal"


@pytest.mark.parametrize("payoff", ["ratio", "regret"])
def test_learning_brackets_the_value(payoff):
    instance = game([1, 2, 4], 1, 3, payoff)
    found, best = run(instance, "cfr:iterations=300"), run(instance)
    assert found.bound_voucher == "verified"
    assert found.bound <= best.objective <= found.objective
    assert float(found.objective) <= 1.06 * float(best.objective)
    assert float(found.bound) >= 0.95 * float(best.objective)
