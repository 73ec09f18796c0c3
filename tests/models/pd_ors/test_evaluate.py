"""The evaluator on hand-checked schedules and on wrong ones."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.pd_ors.data.generate.presets import tiny as draw
from gadgetopt.models.pd_ors.evaluate import courses, evaluate, utility
from gadgetopt.models.pd_ors.instance import PdOrsSolution, Placement, SlotPlan
from gadgetopt.system.files import library, read_instance


def tiny(name):
    return read_instance(library() / "pd_ors" / "tiny" / f"{name}.json").data


def plan(slot, *placed):
    return SlotPlan(
        slot=slot,
        placements=tuple(Placement(machine=h, workers=w, servers=s) for h, w, s in placed),
    )


def decision(*schedules):
    return PdOrsSolution(schedules=schedules)


#: kappa_int = 0.25 and kappa_ext = 0.4 slots per sample and worker: 2 internal or 4 external
#: workers train 8 samples, 3 internal worker-slots 12.
GOOD = [
    ("a_locality", decision((plan(1, (0, 2, 1)),), (plan(1, (1, 2, 1)),)), 20),
    ("a_locality", decision((plan(1, (0, 2, 1), (1, 2, 1)),), None), 10),
    ("a_external_only", decision((plan(1, (0, 3, 0), (1, 1, 2)),), None), 10),
    ("b_guarantee", decision(None, (plan(1, (0, 2, 1)),)), 10),
    ("c_prices", decision((plan(1, (0, 2, 1)),), None, (plan(1, (0, 2, 1)),)), 14),
    ("d_workload", decision((plan(1, (0, 1, 1)), plan(2, (0, 2, 1)))), 9),
    ("d_workload", decision((plan(1, (0, 1, 1)), plan(3, (0, 2, 1)))), 4),
    ("d_workload", decision((plan(1, (0, 2, 1), (1, 2, 1)), plan(2, (0, 1, 1)))), 9),
    (
        "e_two_jobs",
        decision(
            (plan(1, (0, 2, 1)), plan(2, (0, 1, 1))),
            (plan(2, (1, 2, 1)), plan(3, (1, 1, 1))),
        ),
        18,
    ),
    ("f_rounding", decision((plan(1, (0, 1, 1), (1, 1, 0), (2, 1, 0)),)), 10),
    ("g_exact_work", decision((plan(1, (0, 3, 2)),)), 10),
    ("h_ratio_at_least", decision((plan(1, (0, 3, 2)),), None), 10),
    ("h_ratio_exact", decision(None, (plan(1, (0, 2, 1)),)), 4),
]

BAD = [
    ("a_locality", decision((plan(1, (0, 2, 1)),)), "missing_job", 1),
    ("a_locality", decision(None, (plan(2, (0, 2, 1)),)), "slot", 1),
    ("e_two_jobs", decision(None, (plan(1, (0, 2, 1)), plan(2, (0, 2, 1)))), "slot", 1),
    ("a_locality", decision(None, (plan(1, (5, 2, 1)),)), "unknown_machine", 4),
    ("a_locality", decision(None, (plan(1, (0, 1, 1), (0, 1, 0)),)), "repeated", 1),
    ("d_workload", decision((plan(1, (0, 2, 1)), plan(1, (1, 2, 1)))), "repeated", 1),
    # Two of the four external workers that 8 samples take train 5.
    ("a_locality", decision(None, (plan(1, (0, 2, 0), (1, 0, 1)),)), "work", 3),
    ("a_locality", decision((), None), "work", 8),
    # At external speed 2 workers of one machine train 5 samples.
    ("a_external_only", decision((plan(1, (0, 2, 1)),), None), "work", 3),
    ("d_workload", decision((plan(1, (0, 3, 0), (1, 2, 3)),)), "batch", 1),
    ("d_workload", decision((plan(1, (0, 3, 1), (1, 1, 1)), plan(2, (0, 1, 1)))), "capacity", 1),
    ("d_workload", decision((plan(1, (0, 3, 1)),)), "ratio", 1),
    ("h_ratio_exact", decision((plan(1, (0, 3, 2)),), None), "ratio", 1),
    ("a_internal_only", decision((plan(1, (0, 2, 1), (1, 2, 1)),), None), "spread", 1),
]


@pytest.mark.parametrize(("name", "solution", "value"), GOOD)
def test_hand_checked_schedules_have_their_value(name, solution, value):
    evaluation = evaluate(tiny(name), solution)
    assert evaluation.violations == ()
    assert evaluation.objective == value


@pytest.mark.parametrize(("name", "solution", "constraint", "amount"), BAD)
def test_every_violation_is_named_with_its_exact_amount(name, solution, constraint, amount):
    violations = evaluate(tiny(name), solution).violations
    assert [v.amount for v in violations if v.constraint == constraint] == [amount]


def test_a_sample_less_than_the_work_is_missing_exactly():
    # Three external workers train 3 / 0.4 = 7.5 of 8 samples.
    found = evaluate(tiny("a_locality"), decision(None, (plan(1, (0, 2, 1), (1, 1, 1)),)))
    assert [(v.constraint, v.amount) for v in found.violations] == [("work", Fraction(1, 2))]


def test_surplus_slots_cost_utility_and_are_counted():
    # The work is done in slot 2, and a worker runs on in slot 3.
    late = decision((plan(1, (0, 2, 1)), plan(2, (0, 1, 1)), plan(3, (1, 1, 1))))
    evaluation = evaluate(tiny("d_workload"), late)
    assert evaluation.objective == 4
    assert evaluation.components["jobs_done_early"] == 1
    assert evaluation.components["median_training_slots"] == 3


def test_servers_without_workers_are_legal_counted_and_no_completion():
    idle = decision((plan(1, (0, 2, 1)), plan(2, (0, 1, 1)), plan(3, (1, 0, 2))))
    evaluation = evaluate(tiny("d_workload"), idle)
    assert (evaluation.feasible, evaluation.objective) == (True, 9)
    assert evaluation.components["idle_servers"] == 2


def test_components_say_what_part_of_the_cluster_is_used_and_internal():
    _, solution, _ = GOOD[7]
    parts = evaluate(tiny("d_workload"), solution).components
    assert parts["accepted_jobs"] == 1
    assert parts["internal_share"] == 1 / 5
    assert parts["used_unit"] == 8 / 18


def test_more_servers_than_asked_for_are_faster_in_fact_and_not_nominally():
    # 2 workers and 2 servers: 0.2 + (2 / 4) (0.4 / 2) / 4 = 0.225 slots a sample and worker.
    (course,) = courses(tiny("d_workload"), decision((plan(1, (0, 2, 2)),)))
    assert course.slots[0].samples == 8
    assert course.slots[0].samples_actual == Fraction(2) / Fraction("0.225")


@given(seed=st.integers(0, 10**6), slot=st.integers(0, 5))
def test_utilities_are_those_of_the_instance(seed, slot):
    instance = draw(np.random.default_rng(seed))
    for job, terms in zip(instance.jobs, instance.terms.jobs, strict=True):
        t = job.arrival_slot + slot
        if t <= instance.horizon_slots:
            assert utility(job, t) == pytest.approx(terms.utility[t], rel=1e-12)


@given(seed=st.integers(0, 10**6), data=st.data())
def test_work_suffices_exactly_where_the_table_of_worker_slots_says(seed, data):
    # Internal slots on a machine of its own, external ones over two: the two ways to count agree.
    instance = draw(np.random.default_rng(seed), jobs=1, horizon_slots=3, machines=2)
    job, terms = instance.jobs[0], instance.terms.jobs[0]
    if terms.earliest is None:
        return
    slots = range(job.arrival_slot, 4)
    A = B = 0
    schedule = []
    for t in slots:
        n = data.draw(st.integers(0, job.global_batch))
        spread = data.draw(st.booleans())
        s = int(terms.servers[n])
        A, B = (A, B + n) if spread else (A + n, B)
        schedule.append(plan(t, (0, n, 0), (1, 0, s)) if spread else plan(t, (0, n, s)))
    needed = terms.external_needed
    enough = len(needed) <= A or needed[A] <= B
    violations = evaluate(instance, decision(tuple(schedule))).violations
    assert enough == all(v.constraint != "work" for v in violations)
