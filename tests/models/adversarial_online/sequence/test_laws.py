"""Bounds, heuristics, the closed form's conditions, large numbers and limits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.adversarial_online.sequence.data.generate import presets
from gadgetopt.models.adversarial_online.sequence.evaluate import evaluate
from gadgetopt.models.adversarial_online.sequence.features import features
from gadgetopt.models.adversarial_online.sequence.guarantees import chain

from .brute_force import prices, random_prices, run


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_heuristics_optimum_and_bound_are_in_order(seed, monotone):
    instance = random_prices(np.random.default_rng(seed), monotone=monotone)
    best = run(instance)
    assert best.status == "optimal"
    for method in ("chain", "local_search:starts=2"):
        assert run(instance, method).objective <= best.objective
    bound = run(instance, "any_horizon")
    assert bound.bound_voucher == "verified"
    assert bound.bound >= best.objective
    longer = instance.model_copy(update={"horizon": instance.horizon + 1})
    assert best.objective <= run(longer).objective <= bound.bound


@given(st.integers(0, 2**32 - 1))
def test_the_chain_is_worst_for_non_decreasing_prices_and_long_horizons(seed):
    instance = random_prices(np.random.default_rng(seed), monotone=True)
    enough = instance.capacity[0] * len(instance.levels)
    instance = instance.model_copy(update={"horizon": max(instance.horizon, enough)})
    assert chain.long_horizon(instance, {})
    assert run(instance, "chain").objective == run(instance).objective


@given(st.integers(0, 2**32 - 1))
def test_money_in_another_unit_changes_no_ratio(seed):
    instance = random_prices(np.random.default_rng(seed), monotone=False)
    scale = Fraction(7, 3)
    scaled = instance.model_copy(
        update={
            "types": tuple(
                kind.model_copy(update={"value": kind.value * scale}) for kind in instance.types
            ),
            "policy": tuple(
                posted.model_copy(
                    update={"prices": tuple(tuple(x * scale for x in t) for t in posted.prices)}
                )
                for posted in instance.policy
            ),
        }
    )
    factor = scale if instance.payoff == "regret" else 1
    assert run(scaled).objective == run(instance).objective * factor


def test_wide_numbers_are_computed_in_unlimited_integers():
    # Amounts of sixty digits: no 64 bits hold q OPT - p ALG.
    tiny, huge = "1/100000000000000000000000000000", "1000000000000000000000000000001/1000"
    found = run(prices([tiny, huge], [tiny, tiny], horizon=4))
    assert found.status == "optimal"
    assert found.objective == Fraction(huge) / Fraction(tiny)


def test_the_closed_form_says_what_it_is_not_made_for():
    for instance, reason in [
        (prices([1, 2], [1, 1], horizon=3), "horizon"),
        (prices([1, 2], [2, 1], horizon=4), "non-decreasing"),
        (prices([1, 2], [1], [2], horizon=4), "one non-decreasing table"),
    ]:
        found = run(instance, "closed_form")
        assert found.refused
        assert reason in found.reason


def test_a_stopped_program_returns_what_it_has():
    instance = presets.paper(np.random.default_rng(0))
    found = run(instance, time_s=0.0)
    assert found.limit_hit == "time_s"
    assert found.bound is None
    assert found.objective <= run(instance).objective


@pytest.mark.parametrize(
    "draw",
    [presets.quickstart, presets.paper, presets.random_table, presets.one_seed, presets.resources],
)
def test_every_preset_is_closed_with_a_certificate(draw):
    instance = draw(np.random.default_rng(1))
    found = run(instance)
    assert found.status == "optimal"
    assert found.bound_voucher == "verified"
    assert evaluate(instance, found.solution).objective == found.objective
    assert all(np.isfinite(list(features(instance).values())))
