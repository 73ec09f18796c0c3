"""The picture shows every job on its machine, and the bound."""

import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.parallel_machines.instance import ParallelMachinesSolution
from gadgetopt.models.parallel_machines.pictures.loads import draw
from gadgetopt.reporting.figures import drawn
from gadgetopt.system.registry import problem

from ..brute_force import instance_of

FIVE_JOBS = instance_of(2, 3, 3, 2, 2, 2)


def test_machines_are_bars_of_their_jobs_longest_first():
    figure = draw(FIVE_JOBS, ParallelMachinesSolution(machine=(0, 1, 0, 1, 1)))
    (bars,) = figure.data
    assert list(bars.y) == [0, 0, 0, 1, 1]  # the fuller machine first
    assert list(bars.x) == [3, 2, 2, 3, 2]
    assert list(bars.base) == [0, 3, 5, 0, 3]
    assert list(figure.layout.yaxis.ticktext) == ["machine 1", "machine 0"]
    assert figure.layout.title.text == "Makespan 7 s, 5 jobs on 2 machines"
    assert figure.layout.shapes[0].x0 == 6
    assert "no schedule ends before 6 s" in figure.layout.title.subtitle.text


def test_an_infeasible_assignment_is_not_drawn():
    system = problem("parallel_machines")
    with pytest.raises(InputError, match="unassigned_job"):
        drawn(system, system.pictures[0], FIVE_JOBS, ParallelMachinesSolution(machine=(0,)))
