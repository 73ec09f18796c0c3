"""The simulator agrees with a second one, and with times by hand."""

from fractions import Fraction

import pytest

from gadgetopt.models.adsp.subproblems.workers import Worker
from gadgetopt.models.adsp.training.instance import (
    Adacomm,
    Bsp,
    FixedAdacomm,
    Rate,
    Ssp,
)
from gadgetopt.models.adsp.training.simulator import first_local_steps, simulate
from gadgetopt.system.files import library, read_instance

from .random_instances import random_instance
from .reference import barrier_time, free_running_time


def tiny(name):
    return read_instance(library() / "adsp_training" / "tiny" / f"{name}.json").data


@pytest.mark.parametrize("seed", range(25))
def test_policies_agree_with_the_second_simulator(seed):
    instance = random_instance(seed)
    fast = {
        policy: simulate(instance, policy)
        for policy in (
            Rate(commits=2),
            Rate(commits=5, momentum=0.3, lr_factor=0.5),
            Ssp(slack=2),
            Bsp(),
            FixedAdacomm(local_steps=3),
            Adacomm(),
        )
    }
    for policy, run in fast.items():
        free = policy.kind in ("rate", "ssp")
        first = first_local_steps(instance) if policy.kind == "adacomm" else 1
        other = (
            free_running_time(instance, policy) if free else barrier_time(instance, policy, first)
        )
        assert (run.time_s if run.converged else None) == other, policy


# -- by hand -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "policy", "time_s"),
    [
        # A step of 1 s and half a commit of 0.6 s; a barrier waits for 3 + 0.3 s.
        ("first_arrival", Ssp(slack=40), "13/10"),
        ("first_arrival", Bsp(), "33/10"),
        ("first_arrival", FixedAdacomm(local_steps=2), "63/10"),
        # A timer of 12/1 - 0.6 = 11.4 s takes 12 steps, of 12/3 - 0.6 = 3.4 s four.
        ("first_arrival", Rate(commits=1), "123/10"),
        ("first_arrival", Rate(commits=3), "43/10"),
        # 1.3, 2.9 and 3.3 s; barriers at 3.3, 6.9 and 10.5 s.
        ("three_arrivals", Ssp(slack=40), "33/10"),
        ("three_arrivals", Bsp(), "105/10"),
        # With a slack of 0 the fast worker waits for the slow one's first update at 3.3 s; its own
        # second arrives at 3.3 + 1.3 s.
        ("three_arrivals", Ssp(slack=0), "46/10"),
    ],
)
def test_times_by_hand(name, policy, time_s):
    run = simulate(tiny(name), policy)
    assert run.converged
    assert run.time_s == Fraction(time_s)


def test_equal_commits_whatever_the_speeds():
    instance = read_instance(library() / "quickstart" / "adsp_training.json").data
    run = simulate(instance, Rate(commits=4))
    assert sum(run.waited) == 0
    assert run.max_spread <= 2


@pytest.mark.parametrize("catch_up", [True, False])
def test_a_worker_that_cannot_commit_as_often_falls_behind_for_ever(catch_up):
    # The straggler makes 60/20.5 = 2.9 commits a period at most, the others eight.
    instance = tiny("straggler_falls_behind").model_copy(
        update={"catch_up": catch_up, "target_factor": 1.0}
    )
    spreads = []
    for horizon in (300.0, 600.0, 900.0):
        changed = instance.model_copy(update={"horizon_s": horizon})
        spreads.append(simulate(changed, Rate(commits=8)).max_spread)
    assert spreads[0] >= 20
    assert spreads[1] - spreads[0] >= 20
    assert spreads[2] - spreads[1] >= 20


def test_commits_are_evenly_spread_over_a_period():
    # Six commits a period: timers of 9.4 s, ten steps of 1 s or four of 3 s, and 0.6 s each.
    instance = read_instance(library() / "quickstart" / "adsp_training.json").data
    run = simulate(instance, Rate(commits=6), keep_log=True)
    first_period = [c for c in run.log if c.begin < 60 * run.unit]
    assert {(c.worker, c.steps) for c in first_period} == {(0, 10), (1, 10), (2, 4)}


def test_catching_up_keeps_totals_together_where_rates_are_in_reach():
    # Steps of 2 s and timers of 60/7 - 0.6 s: rounding up loses commits, unless they are made up.
    instance = read_instance(library() / "quickstart" / "adsp_training.json").data
    instance = instance.model_copy(update={"target_factor": 1.0})
    together = simulate(instance, Rate(commits=7))
    apart = simulate(instance.model_copy(update={"catch_up": False}), Rate(commits=7))
    assert together.max_spread < apart.max_spread


def test_negative_timers_are_clamped_to_one_step():
    # Trap 2: twelve commits of 6 s do not fit into a period of 12 s.
    instance = tiny("first_arrival").model_copy(
        update={"workers": (Worker(step_time_s=1.0, comm_time_s=6.0),)}
    )
    run = simulate(instance, Rate(commits=3))
    assert run.steps == [1]
    assert run.time_s == 4


def test_large_updates_overshoot():
    # Trap 6: sums of 20 steps at eta = 1.5 diverge, sums of few do not.
    instance = tiny("large_updates_diverge")
    assert not simulate(instance, FixedAdacomm(local_steps=20)).converged
    assert simulate(instance, FixedAdacomm(local_steps=4)).converged


def test_events_count_steps_arrivals_and_answers():
    run = simulate(tiny("first_arrival"), Ssp(slack=40))
    assert run.events == 2  # a step and its arrival
