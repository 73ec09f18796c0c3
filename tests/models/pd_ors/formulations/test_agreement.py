"""The exact models of the whole horizon against brute force, and against each other."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.pd_ors.data.generate.presets import (
    desk,
    paper,
    tiny,
)
from gadgetopt.models.pd_ors.evaluate import evaluate
from gadgetopt.models.pd_ors.formulations import columns, compact, nonconvex
from gadgetopt.models.pd_ors.formulations.cp import cpsat, whole_work
from gadgetopt.models.pd_ors.instance import Job, PdOrsInstance
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.result import Limits, Status

from ..brute_force import optimum
from ..tiny_instances import HAND_CHECKED, JOB_J, cluster, job_j, tiny_instance

LIMITS = Limits(time_s=60)
MODELS = {
    "compact": (compact.build, compact.decode, "highs"),
    "compact_plain": (compact.build_plain, compact.decode, "highs"),
    "schedule_columns": (columns.build, columns.decode, "highs"),
    "minlp": (nonconvex.build, nonconvex.decode, "scip"),
}
ROUTES = (*MODELS, "cpsat")

#: (seed, machines, horizon) of random instances that brute force does in a second.
RANDOM = [(s, 2, 2) for s in (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 14, 15)] + [
    (s, *shape) for shape in ((1, 3), (3, 1)) for s in range(4, 10)
]


def solve(route: str, instance: PdOrsInstance) -> float:
    """The value of the decision found, which is what the model says and what its bound is."""
    if route == "cpsat":
        outcome = cpsat(instance, LIMITS)
        found = evaluate(instance, outcome.solution)
        # Utilities are rounded up, by less than 1e-9 here.
        assert found.objective - 1e-12 <= outcome.dual_bound <= found.objective + 1e-6
    else:
        build, decode, backend = MODELS[route]
        if backend == "scip":
            pytest.importorskip("pyscipopt")
        model = build(instance)
        solved = solve_model(model, backend, LIMITS)
        assert solved.status is Status.OPTIMAL
        found = evaluate(instance, decode(model, instance))
        assert found.objective == pytest.approx(solved.objective, abs=1e-6)
    assert found.feasible
    return found.objective


@cache
def brute(case: tuple[int, int, int]) -> float:
    return optimum(tiny_instance(*case))


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", HAND_CHECKED)
def test_every_route_finds_the_hand_checked_optimum(name, route):
    instance, value = HAND_CHECKED[name]
    assert solve(route, instance) == value


def test_brute_force_finds_the_hand_checked_optimum():
    for name in "ABC":
        instance, value = HAND_CHECKED[name]
        assert optimum(instance) == value


@pytest.mark.parametrize("route", ROUTES)
def test_without_locality_the_first_instance_is_worth_half(route):
    # Four external workers and two servers take both machines.
    instance, _ = HAND_CHECKED["A"]
    assert solve(route, instance.model_copy(update={"locality": "external_only"})) == 10


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("case", RANDOM, ids=str)
def test_every_route_finds_the_optimum_of_brute_force(case, route):
    assert solve(route, tiny_instance(*case)) == pytest.approx(brute(case), abs=1e-6)


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    locality=st.sampled_from(["both", "external_only", "internal_only"]),
    ratio=st.sampled_from(["at_least", "exact"]),
)
def test_linear_models_and_cpsat_agree(seed, locality, ratio):
    rng = np.random.default_rng(seed)
    instance = tiny(rng, resources=2, locality=locality, ratio=ratio)
    value = solve("compact", instance)
    assert solve("compact_plain", instance) == pytest.approx(value, abs=1e-6)
    assert solve("cpsat", instance) == pytest.approx(value, abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_strengthening_keeps_the_optimum_and_lowers_the_relaxation(seed):
    instance = tiny_instance(seed, horizon=3)
    plain, strong = (relaxation(build, instance) for build in (compact.build_plain, compact.build))
    assert solve("compact", instance) <= strong + 1e-6
    assert strong <= plain + 1e-6


def relaxation(build, instance) -> float:
    model = build(instance)
    for variable in model.component_data_objects(compact.pyo.Var):
        variable.domain = compact.pyo.Reals
    return solve_model(model, "highs", LIMITS).objective


@pytest.mark.parametrize("route", ROUTES)
def test_jobs_that_cannot_complete_are_rejected(route):
    hopeless = job_j(10, samples=100)
    too_large = JOB_J.model_copy(update={"worker_demand": (7.0,)})
    assert solve(route, cluster([3, 3], 2, hopeless, too_large)) == 0


@pytest.mark.parametrize("route", ROUTES)
def test_work_that_is_met_precisely_is_enough(route):
    # W = 4 and sigma = 4/3: three internal worker-slots, in floating point 3.9999999999999996.
    job = JOB_J.model_copy(
        update={
            "samples": 10,
            "sample_time_slots": 0.2,
            "gradient_gbit": 0.2,
            "bandwidth_internal_gbps": 2.0,
            "worker_ps_ratio": 2.0,
            "global_batch": 4,
        }
    )
    # kappa_int = 0.2 + 0.8 / 8 = 0.3, kappa_ext = 0.2 + 0.8 / 4 = 0.4.
    instance = cluster([5], 1, job)
    assert instance.terms.jobs[0].sigma == Fraction(4, 3)
    assert solve(route, instance) == 10


@settings(max_examples=200, deadline=None)
@given(
    samples=st.integers(1, 10**6),
    tau=st.floats(1e-5, 1e-4),
    g=st.floats(0, 5),
    external=st.floats(0.1, 5),
    batch=st.integers(1, 200),
)
def test_whole_work_decides_as_exact_arithmetic_does(samples, tau, g, external, batch):
    job = Job(
        arrival_slot=1,
        epochs=1,
        samples=samples,
        global_batch=batch,
        sample_time_slots=tau,
        gradient_gbit=g,
        worker_ps_ratio=3.0,
        bandwidth_internal_gbps=50.0,
        bandwidth_external_gbps=external,
        worker_demand=(1.0,),
        ps_demand=(1.0,),
        utility=JOB_J.utility,
    )
    terms = cluster([1e6], 200, job).model_copy(update={"slot_s": 3600.0}).terms.jobs[0]
    work = whole_work(terms)
    per_slot = decimal_rational(external) * 3600
    kappa = [
        decimal_rational(tau) + 6 * decimal_rational(g) / (b * batch)
        for b in (Fraction(50 * 3600), per_slot)
    ]
    for A in range(len(terms.external_needed) + 1):
        exact = max(0, -(-(samples * kappa[1] - kappa[1] / kappa[0] * A) // 1))
        whole = max(0, -(-(work.level - work.internal * A) // work.external))
        assert exact == whole


def test_whole_work_is_of_small_numbers_where_the_job_allows_it():
    # sigma = 8/5 and W = 16/5: two internal ones suffice, as do four external, or 1 and 2.
    work = whole_work(HAND_CHECKED["A"][0].terms.jobs[0])
    assert (work.internal, work.external, work.level) == (2, 1, 4)


def test_too_many_schedules_are_refused_with_their_number(monkeypatch):
    instance = HAND_CHECKED["E"][0]
    counts = [
        columns.number_of_schedules(job, columns.slot_options(job)) for job in instance.terms.jobs
    ]
    listed = [
        sum(1 for _ in columns.schedules(job, columns.slot_options(job)))
        for job in instance.terms.jobs
    ]
    assert counts == listed
    monkeypatch.setattr(columns, "MOST_COLUMNS", sum(counts) - 1)
    with pytest.raises(ModelRefused, match=f"have {sum(counts)} schedules, too many"):
        columns.build(instance)


def test_a_job_with_too_many_placements_is_refused():
    wide = JOB_J.model_copy(update={"global_batch": 30})
    with pytest.raises(ModelRefused, match="placements in a slot"):
        columns.build(cluster([30] * 6, 2, wide))


def solve_in_cp(instance):
    return cpsat(instance, LIMITS)


@pytest.mark.parametrize(
    "build", [compact.build, compact.build_plain, nonconvex.build, solve_in_cp]
)
def test_models_of_the_whole_horizon_refuse_the_scale_they_are_not_made_for(build):
    with pytest.raises(ModelRefused, match="are too many"):
        build(paper(np.random.default_rng(0), jobs=100, work_scale=0.05))


def test_columns_are_no_longer_than_they_need_be():
    instance = HAND_CHECKED["E"][0]
    for column in columns.all_schedules(instance):
        done = [option.progress for _, option in column.slots]
        assert sum(done) >= column.job.work > sum(done[:-1])


def test_the_compact_model_has_the_size_of_its_formula():
    # |I| T (2 + 5 H) variables, of which those of y in slots of no use are left out.
    instance = desk(np.random.default_rng(0), jobs=3, machines=2, horizon_slots=4)
    form = compile_model(compact.build(instance))
    assert len(form.columns) <= 3 * 4 * (2 + 5 * 2)


def test_out_of_time_leaves_a_decision_and_a_bound_of_the_horizon():
    instance = desk(np.random.default_rng(1), jobs=8, machines=4, horizon_slots=8)
    outcome = cpsat(instance, Limits(time_s=0.5))
    found = evaluate(instance, outcome.solution)
    assert found.feasible
    if outcome.limit_hit:
        assert outcome.dual_bound is None or outcome.dual_bound >= found.objective - 1e-9
