"""The shortest schedule of one plan, and its model, against brute force, CP-SAT and by hand."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.cp_schedule import cp_schedule
from gadgetopt.pieces.pipeline.orders import gpipe_orders, round_orders
from gadgetopt.pieces.pipeline.shop import shop_of_times
from gadgetopt.pieces.pipeline.simulator import simulate
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits, Status

from ..toolkit.pieces.pipeline.examples import least_makespan, shops

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(BENCHMARKS))
    schedules = importlib.import_module("pipeline_schedules")


def test_the_order_of_the_channel_matters():
    # F = B = (4, 1), transfers 1 and 2, M = 2: PE serves cf1, cf2, cb1, cb2 and ends at 19; with
    # cb1 before cf2 it is 18.
    shop = shop_of_times([4, 1, 1], [4, 2, 1], [0, 0, 0], 2)
    assert head_load_tail(shop).value_s == 16
    assert simulate(shop, round_orders(shop)).makespan_s == 19
    assert simulate(shop, gpipe_orders(shop)).makespan_s == 21
    assert cp_schedule(shop, Limits(time_s=10)).schedule.makespan_s == 18
    assert solve_model(
        schedules.scheduling_model(shop), "highs", Limits(time_s=10)
    ).objective == pytest.approx(18)


@pytest.mark.parametrize("seed", range(12))
def test_highs_and_cpsat_agree_on_schedules(seed):
    rng = np.random.default_rng(seed)
    machines = 2 * int(rng.integers(1, 4)) - 1
    times = [rng.integers(0, 9, size=machines).tolist() for _ in range(3)]
    times[2][1::2] = [0] * (machines // 2)
    shop = shop_of_times(*times, int(rng.integers(1, 6)), full_duplex=bool(seed % 2))
    found = cp_schedule(shop, Limits(time_s=20), start=simulate(shop, round_orders(shop)))
    assert found.closed
    outcome = solve_model(schedules.scheduling_model(shop), "highs", Limits(time_s=20))
    assert outcome.status is Status.OPTIMAL
    assert outcome.objective == pytest.approx(float(found.schedule.makespan_s), abs=1e-6)


@settings(max_examples=40)
@given(shops(2, 3))
def test_the_exact_schedule_is_that_of_brute_force(shop):
    solved = schedules.exact_schedule(shop, Limits(), np.random.default_rng(0))
    assert solved.closed
    assert solved.schedule.makespan == solved.bound == least_makespan(shop)


@given(shops(4, 5))
def test_without_time_there_are_a_schedule_and_a_bound(shop):
    solved = schedules.exact_schedule(shop, Limits(time_s=0.0), np.random.default_rng(0))
    assert solved.bound <= solved.schedule.makespan
