"""Theorem 2's conditions: what a run shows of bounded differences."""

from gadgetopt.models.adsp.training.guarantees.conditions import (
    largest_rate_in_reach,
    rates_in_reach,
    spreads,
    step_sizes_fall,
)
from gadgetopt.models.adsp.training.instance import Rate
from gadgetopt.models.adsp.training.simulator import simulate

from ..test_simulator import tiny


def test_the_straggler_limits_what_is_in_reach():
    instance = tiny("straggler_falls_behind")
    assert largest_rate_in_reach(instance) == 2  # 60 / 20.5
    assert not rates_in_reach(instance, {})
    assert not step_sizes_fall(instance, {})


def test_differences_grow_out_of_reach_and_stay_within():
    instance = tiny("straggler_falls_behind").model_copy(update={"target_factor": 1.0})
    beyond = spreads(simulate(instance, Rate(commits=8), keep_log=True))
    within = spreads(simulate(instance, Rate(commits=2), keep_log=True))
    assert beyond == sorted(beyond)
    assert beyond[3] > 3 * beyond[0]
    assert max(within) <= 2
