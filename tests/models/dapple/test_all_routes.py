"""The hand-checked instances by every route, and exact routes against enumeration.

GADGETOPT_DAPPLE=300 in the environment tries more random instances (default 40, 30 by HiGHS).
"""

import os
from fractions import Fraction

import numpy as np
import pytest
from calling import called

from gadgetopt.errors import ModelRefused
from gadgetopt.models.dapple.algorithms.planner import dapple
from gadgetopt.models.dapple.algorithms.schedules import record
from gadgetopt.models.dapple.evaluate import evaluate
from gadgetopt.models.dapple.formulations import bound, joint
from gadgetopt.models.dapple.formulations.cp_joint import cp_joint
from gadgetopt.models.dapple.heuristics.readings import dapple_all_prefixes, dapple_reading
from gadgetopt.models.dapple.instance import DappleSolution
from gadgetopt.models.dapple.proving.bounds.least_bound import least_bound
from gadgetopt.models.dapple.proving.certificate.check import check_bound
from gadgetopt.models.dapple.proving.exact.plans import exact_plans
from gadgetopt.pieces.pipeline.all_plans import plan_tables
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.cp_schedule import cp_schedule
from gadgetopt.pieces.pipeline.instance import PipelineOptions
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.solvers import solve_model
from gadgetopt.system.files import find_instances, library, read_instance
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from . import brute_force
from .chains import D1, D1_PLAN, D2, D2_BEST, D2_PLANNED, drawn, instance_of

LIMITS = Limits(time_s=60)

#: Random instances to try; 0 for the default of each test.
TRIES = int(os.environ.get("GADGETOPT_DAPPLE", "0"))

#: Optima of the tiny instances: of all but two, the files' notes say how they come about.
TINY = {
    "d1_latency_below_optimum": Fraction("37.2"),
    "d1_simple": 31,
    "d2_misled": 49,
    "memory": 37,
    "one_gpu": 45,
    "one_layer": 11,
    "two_in_flight": 51,
}

#: Optima of those that allow copies of the pipeline.
COPIES = {"one_copy_crosses": 29, "two_pipelines": 22}


def run(method, instance, **parameters):
    return called(method, instance, LIMITS, np.random.default_rng(0), **parameters)


def test_d1_the_latency_is_below_the_optimum():
    # F = (3, 2), B = (6, 4), link 4/2 * 2/2 = 2 each way, AR = (2/2 * 4/20, 2/2 * 62/20).
    found = record(D1, D1_PLAN)
    assert found.latency_paper_s == pytest.approx(36.2)
    assert found.pivot_paper == 0
    assert found.pivot_max == 2
    assert found.lower_bound_s == Fraction("37.2")
    assert found.makespan_s == {
        "A": Fraction("48.2"),
        "B": Fraction("40.2"),
        "GPipe": Fraction("46.2"),
        "PE": Fraction("37.2"),
    }
    planned = run(dapple, D1)
    assert planned.solution.plan == D1_PLAN
    everything = run(dapple_all_prefixes, D1)
    assert everything.solution.plan == D1_PLAN
    assert everything.notes["candidates"] == 33
    best = run(exact_plans, D1)
    assert evaluate(D1, best.solution).objective == Fraction("37.2")
    assert check_bound(D1, best.certificate) == pytest.approx(Fraction("37.2"))


def test_d2_the_pivot_rule_misleads_the_planner():
    planned = record(D2, D2_PLANNED)
    assert planned.latency_paper_s == pytest.approx(48.0)
    assert (planned.pivot_paper, planned.pivot_max) == (0, 4)
    # 4 + 0.1 + 2 + 1 + 4 * 9 + (8 + 0.1 + 4 + 1)
    assert planned.lower_bound_s == Fraction("56.2")
    assert planned.makespan_s["A"] == Fraction("58.4")
    assert planned.makespan_s["B"] == Fraction("56.2")
    best = record(D2, D2_BEST)
    assert best.lower_bound_s == 49
    assert (best.makespan_s["A"], best.makespan_s["B"]) == (51, 49)
    outcome = run(dapple, D2)
    assert outcome.solution.plan == D2_PLANNED
    assert evaluate(D2, outcome.solution).objective == Fraction("56.2")
    assert run(dapple_reading, D2, pivot="max").solution.plan == D2_BEST
    for method in (exact_plans, least_bound):
        solved = run(method, D2)
        assert evaluate(D2, solved.solution).objective == 49
        assert check_bound(D2, solved.certificate) == pytest.approx(49)


@pytest.mark.parametrize("instance", [D1, D2], ids=["d1", "d2"])
def test_the_hand_checked_plans_by_cp_sat(instance):
    plan = D1_PLAN if instance is D1 else D2_PLANNED
    shop = shop_of(instance, plan)
    solved = cp_schedule(shop, LIMITS, 0)
    assert solved.closed
    expected = Fraction("37.2") if instance is D1 else Fraction("56.2")
    assert solved.schedule.makespan_s == expected
    solution = DappleSolution.of(plan, orders=solved.schedule.orders)
    assert evaluate(instance, solution).objective == expected


def tiny():
    return {d.name: d for d in map(read_instance, find_instances([library() / "dapple" / "tiny"]))}


def test_every_tiny_instance_has_its_optimum():
    assert set(tiny()) == {*TINY, *COPIES}


@pytest.mark.parametrize("method", ["exact_plans", "cp_joint"])
@pytest.mark.parametrize("name", TINY)
def test_two_exact_routes_close_every_tiny_instance(name, method):
    result = solve(tiny()[name], method, LIMITS)
    assert result.status is Status.OPTIMAL, result.reason
    assert result.objective == TINY[name]
    if method == "cp_joint":  # whole ticks: nothing is rounded
        assert result.bound == TINY[name]


@pytest.mark.parametrize("method", ["exact_plans", "cp_copies"])
@pytest.mark.parametrize("name", COPIES)
def test_two_exact_routes_close_every_instance_with_copies(name, method):
    result = solve(tiny()[name], method, LIMITS)
    assert result.status is Status.OPTIMAL, result.reason
    assert result.objective == result.bound == COPIES[name]
    assert (result.bound_voucher.value == "verified") == (method == "exact_plans")


@pytest.mark.parametrize("seed", range(TRIES or 40))
def test_enumeration_and_all_exact_routes_agree(seed):
    instance = drawn(seed)
    optimum = brute_force.optimum(instance)
    exact = run(exact_plans, instance)
    assert evaluate(instance, exact.solution).objective == optimum
    assert float(exact.dual_bound) == pytest.approx(float(optimum))
    if exact.certificate is not None:
        assert check_bound(instance, exact.certificate) <= optimum
    together = run(cp_joint, instance)
    assert evaluate(instance, together.solution).objective == optimum
    assert together.dual_bound == optimum
    lower = run(least_bound, instance)
    assert float(lower.dual_bound) <= float(optimum) * (1 + 1e-9)
    least = float(brute_force.least_bound(instance))
    assert float(lower.dual_bound) == pytest.approx(min(least, float(lower.claimed_objective)))
    planned = run(dapple, instance)
    assert evaluate(instance, planned.solution).objective >= optimum


@pytest.mark.parametrize("seed", range(12))
def test_plan_and_schedule_together_know_all_options(seed):
    rng = np.random.default_rng(seed)
    options = PipelineOptions(
        use_all_gpus=bool(rng.integers(2)),
        max_in_flight=(None, 1)[int(rng.integers(2))],
        max_stages=(None, 2)[int(rng.integers(2))],
        memory_bytes=float(rng.integers(20, 160)),
        recompute=bool(rng.integers(2)),
        overlap_allreduce=bool(rng.integers(2)),
        nvlink_rings=bool(rng.integers(2)),
        transfer_latency_s=float(rng.integers(3)),
    )
    instance = drawn(seed, options=options)
    optimum, found = brute_force.optimum(instance), run(cp_joint, instance)
    if optimum is None:
        assert found.proved is Status.INFEASIBLE
        assert found.solution is None
    else:
        assert evaluate(instance, found.solution).objective == optimum
        assert found.dual_bound == optimum


@pytest.mark.parametrize("ticks", [30, 1000])
def test_coarse_ticks_make_a_bound_lower_and_never_wrong(ticks, monkeypatch):
    best = run(exact_plans, D1).claimed_objective
    monkeypatch.setattr(plan_tables, "MOST_TICKS", ticks)
    found = run(cp_joint, D1)
    assert found.dual_bound < best
    evaluation = evaluate(D1, found.solution)
    assert evaluation.feasible
    assert evaluation.objective == found.claimed_objective >= best


def test_plan_and_schedule_together_are_for_tiny_instances():
    wide = TwoLevelCluster(gpus_per_machine=(7,), intra_bytes_per_s=1.0, inter_bytes_per_s=1.0)
    with pytest.raises(ModelRefused, match="cluster: 7 GPUs, expected at most 6"):
        run(cp_joint, D1.model_copy(update={"cluster": wide}))
    with pytest.raises(ModelRefused, match="num_microbatches: 1400000 blocks, expected at most"):
        run(cp_joint, D1.model_copy(update={"num_microbatches": 100_000}))


def test_without_time_plan_and_schedule_together_claim_nothing():
    found = cp_joint(D1, Limits(time_s=0))
    assert (found.solution, found.dual_bound, found.limit_hit) == (None, 0, "time_s")
    assert found.proved is None


@pytest.mark.parametrize("seed", [*range(TRIES or 30), 196])  # 196: blocks that take no time
def test_the_integer_programs_agree_with_enumeration(seed):
    instance = drawn(seed, comm_model="simple")
    exact = instance.cluster.exact
    if exact.inter > exact.intra or exact.allreduce_inter > exact.allreduce_intra:
        pytest.skip("slower inside than across: not in the integer programs")
    for formulation, expected in (
        (joint, brute_force.optimum(instance)),
        (bound, brute_force.least_bound(instance)),
    ):
        model = formulation.build(instance)
        solved = solve_model(model, "highs", LIMITS)
        assert solved.status is Status.OPTIMAL
        assert float(solved.objective) == pytest.approx(float(expected))
        evaluation = evaluate(instance, formulation.decode(model, instance))
        assert evaluation.feasible
        if formulation is joint:
            assert float(evaluation.objective) == pytest.approx(float(expected))


@pytest.mark.parametrize("scale", [1.0, 1e-7])
def test_the_joint_model_knows_blocks_without_length_and_short_times(scale):
    # What starts together is in flight at once unless blocks without length come first.
    columns = [[0, 3, 0], [2, 0, 0], [0, 4, 0], [0, 2, 0]]
    instance = instance_of(
        *([scale * x for x in column] for column in columns),
        3,
        comm_model="simple",
        options=PipelineOptions(max_in_flight=1),
    )
    model = joint.build(instance)
    assert solve_model(model, "highs", LIMITS).status is Status.OPTIMAL
    decoded = evaluate(instance, joint.decode(model, instance))
    best = run(exact_plans, instance)
    assert decoded.feasible
    assert float(decoded.objective) == pytest.approx(float(best.claimed_objective), rel=1e-6)
