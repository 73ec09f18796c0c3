"""The models and exact methods against brute force, and against each other."""

import time

import numpy as np
import pytest
from calling import called
from hypothesis import given, settings

from gadgetopt.errors import ModelRefused
from gadgetopt.models.smd.data.generate.presets import (
    independent_limits,
    paper,
    planted,
)
from gadgetopt.models.smd.evaluate import evaluate
from gadgetopt.models.smd.formulations import collapsed, columns, nonconvex
from gadgetopt.models.smd.instance import SmdInstance
from gadgetopt.models.smd.proving.bounds.prices import columns_of
from gadgetopt.models.smd.proving.exact.optimum import (
    cpsat,
    exact,
)
from gadgetopt.models.smd.subproblems.columns import all_columns
from gadgetopt.pieces.utility import SigmoidUtility
from gadgetopt.solvers import solve_model
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from ..brute_force import optimum, small_instances

LIMITS = Limits(time_s=20)


def rng():
    return np.random.default_rng(0)


@settings(max_examples=25)
@given(instance=small_instances())
def test_exact_finds_the_optimum_of_brute_force(instance):
    outcome = exact(instance, LIMITS)
    best = optimum(instance)
    assert evaluate(instance, outcome.solution).objective == pytest.approx(best, abs=1e-6)


@settings(max_examples=15)
@given(instance=small_instances())
def test_columns_have_the_optimum_of_brute_force(instance):
    model = columns.build(instance)
    outcome = solve_model(model, "highs", LIMITS)
    assert outcome.status is Status.OPTIMAL
    best = optimum(instance)
    assert outcome.objective == pytest.approx(best, abs=1e-6)
    found = evaluate(instance, columns.decode(model, instance))
    assert found.feasible
    assert found.objective == pytest.approx(best, abs=1e-6)


@settings(max_examples=15)
@given(instance=small_instances(charging="reserved"))
def test_the_program_collapses_to_a_knapsack_where_reservations_are_charged(instance):
    model = collapsed.build(instance)
    outcome = solve_model(model, "highs", LIMITS)
    assert outcome.objective == pytest.approx(optimum(instance), abs=1e-6)
    assert evaluate(instance, collapsed.decode(model, instance)).feasible


@settings(max_examples=4, deadline=None)
@given(instance=small_instances())
def test_scip_solves_the_program_as_printed(instance):
    pytest.importorskip("pyscipopt")
    model = nonconvex.build(instance)
    outcome = solve_model(model, "scip", LIMITS)
    if outcome.status is Status.OPTIMAL:
        assert outcome.objective == pytest.approx(optimum(instance), rel=1e-5, abs=1e-5)
        assert evaluate(instance, nonconvex.decode(model, instance)).feasible


@settings(max_examples=15)
@given(instance=small_instances())
def test_rounded_down_utilities_bound_the_optimum_by_one_unit_for_each_job(instance):
    best = optimum(instance)
    for scale in (1, 10_000):
        outcome = cpsat(instance, LIMITS, scale=scale)
        assert outcome.certificate is not None or outcome.dual_bound >= best - 1e-9
        found = evaluate(instance, outcome.solution)
        assert found.feasible
        assert found.objective >= best - len(instance.jobs) / scale - 1e-9


@pytest.mark.parametrize("preset", [paper, independent_limits, planted])
@pytest.mark.parametrize("charging", ["reserved", "used"])
def test_exact_agrees_with_the_direct_model_on_the_presets(preset, charging):
    instance = preset(np.random.default_rng(3), jobs=8, charging=charging)
    small = instance.model_copy(update={"capacity": tuple(c // 8 for c in instance.capacity)})
    outcome = exact(small, LIMITS)
    direct = solve_model(columns.build(small), "highs", Limits(time_s=60))
    assert direct.status is Status.OPTIMAL
    value = evaluate(small, outcome.solution).objective
    assert value == pytest.approx(direct.objective, rel=1e-7)
    assert outcome.certificate is not None or outcome.dual_bound == pytest.approx(value, rel=1e-7)


def test_the_collapsed_knapsack_is_refused_where_use_is_charged():
    instance = paper(rng(), jobs=2, charging="used")
    with pytest.raises(ModelRefused, match="charging 'reserved'"):
        collapsed.build(instance)


def test_all_columns_of_a_job_weigh_the_same_where_reservations_are_charged():
    columns = all_columns(planted(rng(), jobs=3))
    for i in range(3):
        assert len(np.unique(columns.knapsack.weight[columns.job == i], axis=0)) == 1


def test_rows_of_short_decimals_become_whole_numbers():
    instance = planted(rng(), jobs=3)
    patient = SigmoidUtility(gamma1=1.0, gamma2=0.001, gamma3=1000.0)
    limits = (8.25, 36.1, 60.0, 40.5), (8.5, 36.2, 61.0, 41.0), (8.5, 36.2, 61.0, 41.0)
    halves = tuple(
        job.model_copy(update={"reservation_limit": limit, "utility": patient})
        for job, limit in zip(instance.jobs, limits, strict=True)
    )
    knapsack = columns_of(instance.model_copy(update={"jobs": halves}))
    assert knapsack.row_scale == (4, 10, 1, 2)
    assert knapsack.knapsack.weight[0].tolist() == [33, 361, 60, 81]


def test_an_instance_of_hopeless_jobs_has_the_optimum_nothing():
    instance = paper(rng(), jobs=3)
    late = tuple(
        job.model_copy(update={"utility": job.utility.model_copy(update={"time_unit_s": 1e-6})})
        for job in instance.jobs
    )
    hopeless = instance.model_copy(update={"jobs": late})
    outcome = exact(hopeless, LIMITS)
    assert evaluate(hopeless, outcome.solution).objective == 0


@pytest.mark.parametrize("method", [exact, cpsat])
def test_a_pair_that_fills_the_cluster_to_the_last_digit_fits(method):
    # Sums of doubles are 0.43333333333333335 of 0.4333333333333333.
    job = (
        planted(rng(), jobs=1)
        .jobs[0]
        .model_copy(
            update={
                "worker_demand": (0.3333333333333333,),
                "ps_demand": (0.1,),
                "reservation_limit": (1.0,),
                "utility": SigmoidUtility(gamma1=1.0, gamma2=0.001, gamma3=1000.0),
            }
        )
    )
    instance = SmdInstance(
        resources=("a",), capacity=(0.4333333333333333,), charging="used", jobs=(job,)
    )
    outcome = called(method, instance, LIMITS, rng())
    assert outcome.solution.jobs[0].admit
    assert evaluate(instance, outcome.solution).feasible


@pytest.mark.parametrize("unit", [1e-9, 1e-200, 1e12, 1e200])
@pytest.mark.parametrize("charging", ["reserved", "used"])
def test_resources_in_any_unit_are_solved(unit, charging):
    instance = planted(rng(), jobs=4, charging=charging)
    jobs = tuple(
        job.model_copy(
            update={
                name: tuple(x * unit for x in getattr(job, name))
                for name in ("worker_demand", "ps_demand", "reservation_limit")
            }
        )
        for job in instance.jobs
    )
    capacity = tuple(sum(job.reservation_limit[r] for job in jobs) / 2 for r in range(4))
    scaled = SmdInstance(capacity=capacity, charging=charging, jobs=jobs)
    outcome = exact(scaled, LIMITS)
    found = evaluate(scaled, outcome.solution)
    assert found.feasible
    model = columns.build(scaled)
    direct = solve_model(model, "highs", LIMITS)
    assert direct.objective == pytest.approx(found.objective, rel=1e-9)


@pytest.mark.parametrize("method", ["cg_core", "cpsat", "greedy", "smd", "esw:outer=exact"])
def test_what_exceeds_the_cluster_by_a_hair_is_left_out(method):
    # 0.30000000000000004 is 0.1 * 3 in doubles: three do not fit 0.9.
    job = (
        planted(rng(), jobs=1)
        .jobs[0]
        .model_copy(
            update={
                "worker_demand": (0.1,),
                "ps_demand": (0.1,),
                "reservation_limit": (0.1 * 3,),
                "utility": SigmoidUtility(gamma1=1.0, gamma2=0.001, gamma3=1000.0),
            }
        )
    )
    instance = SmdInstance(resources=("a",), capacity=(0.9,), jobs=(job,) * 3)
    result = solve(Document(problem("smd"), "instance", "hair", instance), method)
    assert result.status is not Status.ERROR
    assert [given.admit for given in result.solution.jobs].count(True) == 2


def test_rows_of_many_digits_are_not_blurred_by_the_tolerances_of_a_solver():
    job = planted(rng(), jobs=1).jobs[0]
    patient = SigmoidUtility(gamma1=1.0, gamma2=0.001, gamma3=1000.0)
    jobs = tuple(
        job.model_copy(
            update={
                "worker_demand": (worker,),
                "ps_demand": (1e-6,),
                "reservation_limit": (worker + 1e-6,),
                "utility": patient,
            }
        )
        for worker in (1 / 3, 0.5)
    )
    instance = SmdInstance(
        resources=("a",), capacity=(1 / 3 + 0.500001,), charging="used", jobs=jobs
    )
    model = columns.build(instance)
    solve_model(model, "highs", LIMITS)
    assert evaluate(instance, columns.decode(model, instance)).feasible


def test_scip_is_not_misled_by_a_job_that_is_always_too_late():
    # The exponential of 1000 is beyond 1e20, which SCIP takes for infinity.
    pytest.importorskip("pyscipopt")
    job = planted(rng(), jobs=1).jobs[0]
    late = SigmoidUtility(gamma1=1.0, gamma2=1e3 / job.completion_time.at(1, 1), gamma3=1e-3)
    patient = SigmoidUtility(gamma1=1.0, gamma2=0.001, gamma3=1000.0)
    jobs = tuple(job.model_copy(update={"utility": mu}) for mu in (late, patient))
    instance = SmdInstance(capacity=job.reservation_limit, jobs=jobs)
    model = nonconvex.build(instance)
    outcome = solve_model(model, "scip", LIMITS)
    found = evaluate(instance, nonconvex.decode(model, instance))
    assert [given.admit for given in nonconvex.decode(model, instance).jobs] == [False, True]
    assert outcome.bound >= found.objective - 1e-6


def test_one_bundle_of_many_units_is_left_to_the_core():
    job = planted(rng(), jobs=1).jobs[0]
    limits = ((10.0,), (10.0**9,))
    jobs = tuple(
        job.model_copy(
            update={"worker_demand": (1.0,), "ps_demand": (1.0,), "reservation_limit": limit}
        )
        for limit in (limits[0], limits[1])
    )
    instance = SmdInstance(resources=("a",), capacity=(10.0**9,), jobs=jobs)
    outcome = exact(instance, LIMITS)
    assert [given.admit for given in outcome.solution.jobs].count(True) == 1
    assert outcome.formulation != "dynamic_program"


def test_the_proof_of_an_optimum_ends_with_the_time():
    # The pairs of 400 jobs that gain enough are listed in exact arithmetic. If that ends in time,
    # the certificate has the bound.
    generator = np.random.default_rng(1)
    large = paper(generator, jobs=400, charging="used", overlap="priority")
    began = time.process_time()
    outcome = exact(large, Limits(time_s=2.0))
    assert time.process_time() - began < 6
    assert outcome.claimed_objective is not None
    assert outcome.dual_bound is not None or outcome.certificate is not None
