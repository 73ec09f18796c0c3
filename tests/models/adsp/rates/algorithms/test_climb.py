"""Algorithm 1 on the model: it climbs, and only climbs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.adsp.rates.data.generate.presets import uniform
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.system.result import Status

from ..brute_force import KINDS, changed, random_instance, run, tiny


def test_it_stops_at_the_best_equal_rate_by_hand():
    result = run(tiny("a1_equal_rates"), "adsp")
    assert result.solution.commits_per_period == (9, 9, 9)
    assert result.notes["evaluations"] == 10  # rates 1 to 10


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS))
def test_from_rate_1_it_finds_the_best_of_all_equal_rates(seed, kind):
    instance = random_instance(seed, kind)
    climbed, best = run(instance, "adsp"), run(instance, "equal_commits")
    assert (climbed.objective is None) == (best.objective is None)
    if best.objective is not None:
        assert agrees(climbed.objective, best.objective)


def test_it_never_comes_down_from_a_rate_that_is_too_high():
    result = run(tiny("a1_equal_rates"), "adsp:initial=12")
    assert result.solution.commits_per_period == (12, 12, 12)


@pytest.mark.parametrize("kind", ["error_bound", "time_to_accuracy"])
def test_without_a_window_it_is_optimal(kind):
    instance = changed(uniform(np.random.default_rng(1), workers=9, model=kind), fairness_window=0)
    assert run(instance, "exact_rates").status is Status.OPTIMAL
    assert agrees(run(instance, "adsp").objective, run(instance, "exact_rates").objective)


def test_slow_workers_limit_everyones_rate():
    # The straggler fits two commits into a period, so nobody commits more often.
    result = run(tiny("straggler_cannot_keep_up"), "adsp")
    assert result.solution.commits_per_period == (2, 2, 2)
