"""The evaluator of plans: the hand-checked instances to the digit, every violation by its name."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.marl.queueing.evaluate import evaluate
from gadgetopt.models.marl.queueing.instance import QueueingSolution, Running
from gadgetopt.system.files import library, read_instance

from .brute_force import best_plan, small_instance

#: The derivations are in the files.
TINY = {
    "shortest_first": 20,
    "one_after_the_other": 15,
    "whole_iterations": 25,
    "move": Fraction(40, 3),
    "no_move": Fraction(50, 3),
    "too_short": None,
    "sockets": 15,
    "fragmented": Fraction(50, 3),
    "far": 10,
    "wait": 450,
}


def tiny(name):
    return read_instance(library() / "marl_queueing" / "tiny" / f"{name}.json").data


def plan(*slots):
    """A plan from pairs (job, tasks) in every slot."""
    return QueueingSolution(
        slots=tuple(tuple(Running(job=j, tasks=tasks) for j, tasks in slot) for slot in slots)
    )


def test_every_tiny_instance_is_hand_checked():
    folder = library() / "marl_queueing" / "tiny"
    assert {path.stem for path in folder.glob("*.json")} == set(TINY)


@pytest.mark.parametrize("name", TINY)
def test_the_best_of_all_plans_costs_what_the_file_says(name):
    found = best_plan(tiny(name))
    assert (None if found is None else found[0]) == TINY[name]


def test_first_come_first_served_is_not_the_best():
    first, second = ((0, ((0, 1),)),), ((1, ((0, 1),)),)
    evaluation = evaluate(tiny("shortest_first"), plan(first, first, second))
    assert evaluation.objective == 25
    assert evaluation.components["makespan_s"] == 30
    assert evaluation.components["mean_wait_s"] == 10
    assert evaluation.components["gpu_utilisation"] == 1


def test_a_job_that_moves_may_not_where_jobs_stay():
    here, there = ((0, ((1, 1),)), (2, ((0, 1),))), ((0, ((0, 1),)), (1, ((1, 2),)))
    moved = plan(here, there)
    assert evaluate(tiny("move"), moved).components["moves"] == 1
    (violation,) = evaluate(tiny("no_move"), moved).violations
    assert (violation.constraint, violation.where) == ("moved", "slots[1], job 0")


def test_a_job_that_is_interrupted_may_not_be_where_jobs_stay():
    waits = plan(((0, ((1, 1),)), (2, ((0, 1),))), ((1, ((1, 2),)),), ((0, ((1, 1),)),))
    assert evaluate(tiny("move"), waits).components["interruptions"] == 1
    (violation,) = evaluate(tiny("no_move"), waits).violations
    assert violation.constraint == "moved"


@pytest.mark.parametrize(
    ("slots", "constraint"),
    [
        ([((0, ((0, 1),)),)] * 3, "unfinished"),
        ([()] * 4, "horizon"),
        ([((2, ((0, 1),)),)], "unknown_job"),
        ([((0, ((0, 1),)), (0, ((0, 1),)))], "repeated_job"),
        ([((0, ((0, 2),)),)], "gang"),
        ([((0, ((1, 1),)),)], "unknown_server"),
        ([((0, ((0, 1),)), (1, ((0, 1),)))], "gpus"),
    ],
)
def test_a_plan_that_breaks_a_constraint_is_named(slots, constraint):
    evaluation = evaluate(tiny("shortest_first"), plan(*slots))
    assert constraint in {v.constraint for v in evaluation.violations}
    assert evaluation.objective is None


def test_nothing_runs_before_it_has_arrived():
    early = plan(*[((0, ((0, 1),)),)] * 3)
    (violation,) = evaluate(tiny("whole_iterations"), early).violations
    assert (violation.constraint, violation.amount) == ("arrival", 1)


@pytest.mark.parametrize("seed", range(20))
def test_a_plan_without_one_of_its_jobs_is_rejected(seed):
    instance = small_instance(np.random.default_rng(seed))
    found = best_plan(instance)
    if found is None or not instance.jobs:
        return
    slots = tuple(tuple(r for r in slot if r.job) for slot in found[1].slots)
    evaluation = evaluate(instance, QueueingSolution(slots=slots))
    assert "unfinished" in {v.constraint for v in evaluation.violations}
