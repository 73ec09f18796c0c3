"""The evaluator: the hand-checked instances to the digit, every violation by its name."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.marl.placement.evaluate import evaluate, job_times
from gadgetopt.models.marl.placement.instance import PlacementInstance, PlacementSolution
from gadgetopt.models.marl.subproblems.cluster import Job, Server
from gadgetopt.models.marl.subproblems.occupancy import Occupancy
from gadgetopt.system.files import library, read_instance

from .brute_force import optimum, placements, seated_optimum, small_instance

TINY = {
    # One server each: 100 alone, 140 twice. The derivations are in the files.
    "a_together": Fraction(380, 3),
    "b_spread": Fraction(340, 3),
    "asymmetric": Fraction(530, 3),
    "largest_not_sum": 120,
    "once_per_job": 125,
    "per_task": 140,
    "racks": 210,
    "dead_end": Fraction(400, 3),
    "measured": Fraction(475, 4),
    "no_room": None,
    "no_jobs": 0,
    "sockets": Fraction(310, 3),
    "scattered": Fraction(537, 5),
}


def tiny(name):
    return read_instance(library() / "marl_placement" / "tiny" / f"{name}.json").data


def test_every_tiny_instance_is_hand_checked():
    folder = library() / "marl_placement" / "tiny"
    assert {path.stem for path in folder.glob("*.json")} == set(TINY)


@pytest.mark.parametrize("name", TINY)
def test_the_best_of_all_placements_costs_what_the_file_says(name):
    instance = tiny(name)
    best = seated_optimum(instance) if instance.boards else optimum(instance)
    assert best == TINY[name]


def test_what_a_placement_means_for_each_job():
    spread = PlacementSolution(tasks=(((0, 1), (1, 1)), ((0, 1),), ((1, 1),)))
    gang, single, _ = job_times(tiny("a_together"), spread)
    assert (gang.slowdown, gang.bottleneck, gang.servers, gang.racks) == (Fraction(1, 2), 0, 2, 1)
    assert gang.completion_s == 170
    assert single.iteration_s == Fraction(13, 10)
    evaluation = evaluate(tiny("a_together"), spread)
    assert evaluation.objective == Fraction(430, 3)
    # Each server: the gang suffers 0.5, the other job 0.3.
    assert evaluation.components["total_interference"] == pytest.approx(1.6)
    assert evaluation.components["makespan_s"] == 170
    assert evaluation.components["spread_jobs"] == 1


@pytest.mark.parametrize(
    ("tasks", "constraint", "amount"),
    [
        ((((0, 2),), ((1, 1),)), "unplaced_job", 1),
        ((((0, 2),), ((1, 1),), ()), "unplaced_job", 1),
        ((((0, 2),), ((1, 1),), ((1, 1),), ((1, 1),)), "unknown_job", 1),
        ((((0, 1),), ((1, 1),), ((1, 1),)), "gang", 1),
        ((((0, 2),), ((1, 1),), ((2, 1),)), "unknown_server", 1),
        ((((0, 1), (0, 1)), ((1, 1),), ((1, 1),)), "repeated_server", 1),
        ((((0, 2),), ((0, 1),), ((1, 1),)), "gpus", 1),
    ],
)
def test_a_placement_that_breaks_a_constraint_is_named(tasks, constraint, amount):
    evaluation = evaluate(tiny("a_together"), PlacementSolution(tasks=tasks))
    (violation,) = evaluation.violations
    assert (violation.constraint, violation.amount) == (constraint, amount)
    assert (evaluation.objective is None) == (constraint not in {"gang", "gpus"})


def test_cpus_are_counted():
    job = Job(
        type=0,
        num_tasks=2,
        gpus_per_task=0,
        cpus_per_task=3,
        iterations=1,
        base_iteration_s=Fraction(1),
    )
    instance = PlacementInstance(
        servers=(Server(gpus=0, cpus=5), Server(gpus=0, cpus=5)),
        jobs=(job,),
        interference=((Fraction(0),),),
    )
    (violation,) = evaluate(instance, PlacementSolution(tasks=(((0, 2),),))).violations
    assert (violation.constraint, violation.amount) == ("cpus", 1)
    assert evaluate(instance, PlacementSolution(tasks=(((0, 1), (1, 1)),))).feasible


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_heuristics_count_what_the_evaluator_counts(seed):
    instance = small_instance(np.random.default_rng(seed))
    for solution in placements(instance):
        occupancy = Occupancy.of(instance, solution.tasks)
        objective = evaluate(instance, solution).objective
        assert occupancy.total() == pytest.approx(float(objective) * len(instance.jobs))
        break


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_one_task_more_or_less_is_rejected(seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng)
    for solution in placements(instance):
        tasks = [dict(pairs) for pairs in solution.tasks]
        if not tasks:
            return
        j = int(rng.integers(len(tasks)))
        s = int(rng.integers(len(instance.servers)))
        tasks[j][s] = tasks[j].get(s, 0) + 1
        assert not evaluate(instance, PlacementSolution.of(tasks)).feasible
        break
