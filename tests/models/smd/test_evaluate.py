"""The evaluator on hand-checked decisions, and against the monomials it does not use."""

import math

import numpy as np
import pytest
from hypothesis import given

from gadgetopt.errors import InputError
from gadgetopt.models.smd.data.generate.presets import (
    independent_limits,
    paper,
    planted,
)
from gadgetopt.models.smd.evaluate import completion_time_s, evaluate, utility
from gadgetopt.models.smd.instance import Allocation, SmdSolution
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.registry import problem

from .brute_force import small_instances

TINY = library() / "smd" / "tiny"
OUT = Allocation(admit=False)


def tiny(name):
    return read_instance(TINY / f"{name}.json").data


def run(w, p):
    return Allocation(admit=True, num_workers=w, num_ps=p)


# tau = w + p + 3 + 8 w/p + 60/w by hand, rows p = 1 to 8.
E2_TIMES = [
    [73, 52, 51, 55],
    [70, 45, 40, 40],
    [69 + 2 / 3, 43 + 1 / 3, 37],
    [70, 43, 36],
    [70.6, 43.2],
    [71 + 1 / 3, 43 + 2 / 3],
    [72 + 1 / 7],
    [73],
]


def test_all_twenty_times_of_the_sync_job():
    job = tiny("e2_sync").jobs[0]
    for p, row in enumerate(E2_TIMES, start=1):
        for w, tau in enumerate(row, start=1):
            assert completion_time_s(job, run(w, p)) == pytest.approx(tau)


@pytest.mark.parametrize(("w", "p", "tau"), [(4, 2, 21.5), (4, 1, 23.25), (3, 3, 27 + 1 / 3)])
def test_times_of_the_async_job(w, p, tau):
    assert completion_time_s(tiny("e3_async").jobs[0], run(w, p)) == pytest.approx(tau)


@pytest.mark.parametrize(
    ("w", "p", "tau"),
    [(1, 1, 27.5), (2, 1, 28), (1, 2, 28), (2, 2, 24.5), (3, 1, 33.5), (1, 3, 31 + 1 / 6)],
)
def test_times_of_the_greedy_trap(w, p, tau):
    assert completion_time_s(tiny("e4_greedy_trap").jobs[0], run(w, p)) == pytest.approx(tau)


@pytest.mark.parametrize(
    ("overlap", "tau"), [("sequential", 18), ("wait_free", 12), ("priority", 8.5)]
)
def test_one_iteration_of_one_sample_takes_what_the_overlap_model_says(overlap, tau):
    job = tiny(f"e1_{overlap}").jobs[0]
    assert completion_time_s(job, run(1, 1)) == pytest.approx(tau)


def test_lemma_2_as_printed_is_slower():
    job = tiny("e1_priority").jobs[0].model_copy(update={"lemma_2": "as_printed"})
    assert completion_time_s(job, run(1, 1)) == pytest.approx(9.5)


def test_utility_is_the_sigmoid():
    evaluation = evaluate(tiny("e2_sync"), SmdSolution(jobs=(run(3, 4),)))
    assert evaluation.objective == pytest.approx(100 / (1 + math.exp(0.2 * (36 - 40))))
    assert evaluation.components["total_usage"] == 1


def test_utility_neither_overflows_nor_counts_what_is_negligible():
    job = tiny("e2_sync").jobs[0]
    assert utility(job, 1e300) == 0
    assert utility(job, 0) == pytest.approx(100 / (1 + math.exp(-8)))


def test_two_jobs_that_use_less_than_they_reserve_fit_only_where_use_is_charged():
    decision = SmdSolution(jobs=(run(3, 2), run(3, 2)))
    assert evaluate(tiny("e5_used_16"), decision).objective == pytest.approx(100)
    (violation,) = evaluate(tiny("e5_reserved_16"), decision).violations
    assert (violation.constraint, violation.where, violation.amount) == ("capacity", "units", 4)


def test_a_pair_beyond_the_reservation_is_a_violation_by_its_excess():
    (violation,) = evaluate(tiny("e2_sync"), SmdSolution(jobs=(run(4, 3),))).violations
    assert (violation.constraint, violation.amount) == ("reservation", 1)


def test_an_admitted_job_needs_workers_and_servers():
    evaluation = evaluate(tiny("e2_sync"), SmdSolution(jobs=(run(0, 3),)))
    assert evaluation.objective is None
    assert [v.constraint for v in evaluation.violations] == ["count"]


def test_every_job_has_to_be_decided_on():
    assert evaluate(tiny("e5_used_16"), SmdSolution(jobs=(OUT,))).objective is None


def test_a_job_left_out_is_worth_nothing_and_takes_nothing():
    evaluation = evaluate(tiny("e5_used_16"), SmdSolution(jobs=(OUT, OUT)))
    assert evaluation.objective == 0
    assert evaluation.feasible


def test_amounts_are_decimals_and_not_doubles():
    instance = tiny("e2_sync")
    job = instance.jobs[0].model_copy(
        update={"worker_demand": (0.1,), "ps_demand": (0.2,), "reservation_limit": (0.3,)}
    )
    exact = instance.model_copy(update={"jobs": (job,), "capacity": (0.3,)})
    assert evaluate(exact, SmdSolution(jobs=(run(1, 1),))).feasible


@given(instance=small_instances())
def test_times_from_raw_data_are_those_of_the_monomials(instance):
    for job in instance.jobs:
        for w, p in ((1, 1), (3, 2), (2, 5)):
            monomials = float(job.completion_time.at(w, p))
            assert completion_time_s(job, run(w, p)) == pytest.approx(monomials, rel=1e-12)
            assert utility(job, monomials) == pytest.approx(job.utility.at(monomials), rel=1e-9)


@pytest.mark.parametrize("preset", [paper, independent_limits, planted])
@pytest.mark.parametrize("mode", ["sync", "async", "mixed"])
def test_presets_have_the_utilities_that_the_monomials_say(preset, mode):
    for job in preset(np.random.default_rng(0), jobs=10, sgd_mode=mode).jobs:
        monomials = float(job.completion_time.at(3, 2))
        assert completion_time_s(job, run(3, 2)) == pytest.approx(monomials, rel=1e-12)


def test_negative_data_and_demands_of_nothing_are_turned_down(tmp_path):
    text = (TINY / "e2_sync.json").read_text()
    for old, new, field in (
        ("2.0", "-2.0", "jobs[0].worker_demand[0]"),
        ("2.0", "0.0", "jobs[0].worker_demand"),
        ("500.0", "NaN", "model_size_mb"),
    ):
        path = tmp_path / "bad.json"
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(InputError, match=field.replace("[", r"\[")):
            read_instance(path)


def test_the_problem_is_declared():
    assert problem("smd").sense == "max"
