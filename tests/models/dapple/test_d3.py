"""Instance D3, VGG-19 on two machines of eight GPUs, M = 32, from the published profile."""

from pathlib import Path

import numpy as np
import pytest

from gadgetopt.models.dapple.algorithms.planner import dapple
from gadgetopt.models.dapple.algorithms.schedules import record
from gadgetopt.models.dapple.baselines.parallel import data_parallel
from gadgetopt.models.dapple.data.importers.profiles import dapple_profile
from gadgetopt.models.dapple.evaluate import evaluate
from gadgetopt.models.dapple.heuristics.readings import dapple_all_prefixes
from gadgetopt.models.dapple.instance import DappleSolution
from gadgetopt.models.dapple.proving.bounds.least_bound import least_bound
from gadgetopt.models.dapple.proving.exact.plans import exact_plans
from gadgetopt.pieces.pipeline.cp_schedule import cp_schedule
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.system.result import Limits

PROFILE = Path(__file__).parents[4] / "shared" / "data" / "dapple" / "vgg-19-pbs-32.txt"
RNG = np.random.default_rng(0)
CUTS = ((0, 17), (17, 25))
#: GPUs 0-13 and 14, 15; seven of each machine and one of each.
BLOCKS = Plan(stage_layers=CUTS, stage_devices=(tuple(range(14)), (14, 15)))
SPREAD = Plan(stage_layers=CUTS, stage_devices=((*range(7), *range(8, 15)), (7, 15)))


@pytest.fixture(scope="module")
def d3():
    if not PROFILE.exists():
        pytest.skip("the profiles are not beside the checkout")
    options = {"global_batch": 1024, "microbatch": 32, "profile_batch": 32}
    ((_, instance),) = dapple_profile([PROFILE], RNG, **options).instances
    return instance


def full(instance):
    return instance.model_copy(update={"duplex": "full"})


def near(value):
    return pytest.approx(value, abs=6e-7)


def test_times_of_the_two_plans(d3):
    f, b, a = (row * 1e3 for row in shop_of(d3, BLOCKS).in_seconds())
    assert f == pytest.approx([3.17714, 6.857, 1.765], abs=5e-4)
    assert b == pytest.approx([6.35429, 6.857, 3.62], abs=5e-4)
    assert a == pytest.approx([30.569, 0, 4.987], abs=5e-4)
    f, _, a = (row * 1e3 for row in shop_of(d3, SPREAD).in_seconds())
    assert f[1] == pytest.approx(4)
    assert a == pytest.approx([30.569, 0, 166.222], abs=5e-4)


def test_the_link_is_the_bottleneck_of_blocks(d3):
    found = record(d3, BLOCKS)
    assert float(found.lower_bound_s) == near(0.478958)
    assert found.makespan_s["B"] == found.makespan_s["PE"] == found.lower_bound_s
    assert float(record(full(d3), BLOCKS).makespan_s["PE"]) == near(0.345179)


@pytest.mark.slow
def test_full_duplex_shortens_it_by_a_factor_of_1_43(d3):
    # Rounded to whole ticks the optimum was 0.335561; the bound of the plan is 0.335575.
    solved = cp_schedule(shop_of(full(d3), BLOCKS), Limits(time_s=60), 0)
    assert float(solved.schedule.makespan_s) == near(0.335575)
    assert float(record(full(d3), BLOCKS).lower_bound_s) == near(0.335575)


def test_the_late_allreduce_of_the_spread_plan(d3):
    found = record(d3, SPREAD)
    assert float(found.lower_bound_s) == near(0.345719)
    assert float(found.makespan_s["PE"]) == near(0.459049)
    assert float(found.makespan_s["GPipe"]) == near(0.415004)
    assert float(found.makespan_s["B"]) == near(0.471196)
    assert found.pivot_paper == 0
    assert found.latency_paper_s == near(0.460873)  # a term after the pivot: above the optimum
    for instance in (d3, full(d3)):
        solved = cp_schedule(shop_of(instance, SPREAD), Limits(time_s=60), 0)
        assert solved.closed
        assert float(solved.schedule.makespan_s) == near(0.345719)
        solution = DappleSolution.of(SPREAD, orders=solved.schedule.orders)
        assert evaluate(instance, solution).objective == solved.schedule.makespan_s


def test_the_planners_and_the_optimum(d3):
    assert float(data_parallel(d3).claimed_objective) == near(0.630949)
    options = d3.options.model_copy(update={"max_stages": 2})
    two = dapple(d3.model_copy(update={"options": options}), Limits())
    assert two.notes["latency_paper_s"] == near(0.350890)
    assert two.notes["candidates"] == 673
    assert two.solution.stage_layers == ((0, 21), (21, 25))
    best = exact_plans(d3, Limits(time_s=60), RNG)
    assert best.certificate is not None
    assert float(best.claimed_objective) == near(0.345719)
    assert float(best.dual_bound) == pytest.approx(float(best.claimed_objective), rel=1e-9)
    assert best.solution.plan == SPREAD
    assert float(least_bound(d3, Limits()).dual_bound) == near(0.345719)


@pytest.mark.slow
def test_the_planner_of_three_stages(d3):
    found = dapple_all_prefixes(d3, Limits(), max_stages=3)
    assert found.notes["latency_paper_s"] == near(0.346190)
    assert found.notes["candidates"] == 92857
    assert found.solution.stage_layers == ((0, 16), (16, 21), (21, 25))
    assert [len(gpus) for gpus in found.solution.stage_devices] == [13, 2, 1]
