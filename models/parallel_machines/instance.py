"""Instances and solutions: processing times of jobs, and the machine of each job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Annotated

from pydantic import Field

from gadgetopt.system.data import (
    Instance,
    NonNegativeInt,
    PositiveInt,
    Solution,
)


class ParallelMachinesInstance(Instance):
    r"""Jobs for identical machines.

    Attributes
    ----------
    machines : int
        :math:`m`; each takes one job at a time.
    processing_s : tuple of int
        :math:`p_j`, in whole seconds, in the order in which list scheduling takes the jobs.
    """

    machines: PositiveInt
    processing_s: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]

    @cached_property
    def longest_first(self) -> tuple[int, ...]:
        """Jobs by processing time, longest first; equal ones in their order."""
        times = self.processing_s
        return tuple(sorted(range(len(times)), key=lambda j: (-times[j], j)))

    @cached_property
    def demand(self) -> dict[int, int]:
        r"""Number of jobs :math:`b_d` of every processing time d, longest first."""
        return dict(sorted(Counter(self.processing_s).items(), reverse=True))

    @property
    def used_machines(self) -> int:
        """Machines that any schedule needs: no more than there are jobs."""
        return min(self.machines, len(self.processing_s))

    @cached_property
    def total_s(self) -> int:
        """Processing time of all jobs."""
        return sum(self.processing_s)

    @property
    def mean_load_s(self) -> int:
        """The mean load of the machines, rounded up: no makespan is less."""
        return -(-self.total_s // self.machines)


class ParallelMachinesSolution(Solution):
    """The machine of every job, numbered from 0; the order of jobs on a machine does not matter."""

    machine: tuple[NonNegativeInt, ...]

    @classmethod
    def of(cls, jobs_of_machine: Iterable[Iterable[int]]) -> ParallelMachinesSolution:
        """Return the solution that has these jobs on each machine, every job once."""
        machine_of = {j: i for i, jobs in enumerate(jobs_of_machine) for j in jobs}
        return cls(machine=tuple(machine_of[j] for j in range(len(machine_of))))


def size(instance: ParallelMachinesInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "jobs": len(instance.processing_s),
        "machines": instance.machines,
        "distinct_times": len(instance.demand),
    }
