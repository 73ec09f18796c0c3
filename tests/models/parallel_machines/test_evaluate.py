"""The evaluator against loads counted by hand, and against wrong assignments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.parallel_machines.evaluate import evaluate
from gadgetopt.models.parallel_machines.instance import ParallelMachinesSolution

from .brute_force import instance_of, small_instances

FIVE_JOBS = instance_of(2, 3, 3, 2, 2, 2)


def test_the_makespan_is_the_largest_load():
    # 3 + 2 = 5 and 3 + 2 + 2 = 7; 2 * 7 - 12 = 2 s idle.
    found = evaluate(FIVE_JOBS, ParallelMachinesSolution(machine=(0, 1, 0, 1, 1)))
    assert found.feasible
    assert found.objective == 7
    assert found.components == {"idle_s": 2, "machines_used": 2}


@pytest.mark.parametrize(
    ("machine", "violation"),
    [
        ((0, 1, 0, 1), "unassigned_job at machine of 5 jobs: by 1"),
        ((0, 1, 0, 1, 1, 0), "unknown_job at machine of 5 jobs: by 1"),
        ((0, 1, 0, 1, 3), "unknown_machine at machine[4]: by 2"),
    ],
)
def test_an_assignment_that_is_none_has_no_makespan(machine, violation):
    found = evaluate(FIVE_JOBS, ParallelMachinesSolution(machine=machine))
    assert [str(v) for v in found.violations] == [violation]
    assert found.objective is None


@given(instance=small_instances(), data=st.data())
def test_perturbed_assignments_are_rejected(instance, data):
    jobs = len(instance.processing_s)
    machines = st.integers(0, instance.machines - 1)
    right = data.draw(st.tuples(*[machines] * jobs))
    assert evaluate(instance, ParallelMachinesSolution(machine=right)).feasible
    j = data.draw(st.integers(0, jobs - 1))
    elsewhere = (*right[:j], instance.machines, *right[j + 1 :])
    for wrong in (right[:-1], (*right, 0), elsewhere):
        assert not evaluate(instance, ParallelMachinesSolution(machine=wrong)).feasible


def test_times_of_any_size_are_exact():
    instance = instance_of(2, 2**60 + 1, 2**60)
    assert evaluate(instance, ParallelMachinesSolution(machine=(0, 0))).objective == 2**61 + 1
