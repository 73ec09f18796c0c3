"""Sequential placement: jobs are placed on machines one by one, in the capacity that is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from ...instance import (
    PdOrsInstance,
    PdOrsSolution,
    SlotPlan,
)
from ...subproblems.kernel import (
    Progress,
    Usage,
    best_plans,
    usage_of,
)
from ...subproblems.slot_methods import SlotOptions
from ...terms import JobTerms

#: Parts of a job's work, and numbers of workers tried, where exact ones would be many.
#: Tuned: `benchmarks/constants.py`.
QUANTA = 600
GRID = 16


@dataclass(frozen=True)
class Placed:
    """A job's schedule, the capacity that it uses and the utility that it earns."""

    schedule: tuple[SlotPlan, ...]
    usage: Usage
    utility: float


class Placing:
    """Placed jobs.

    Attributes
    ----------
    placed : dict of job to Placed
    value : float
        Total utility.
    """

    def __init__(self, instance: PdOrsInstance):
        self._instance = instance
        shape = (instance.horizon_slots, *instance.terms.capacity.shape)
        self._room: Ints = np.broadcast_to(instance.terms.capacity, shape).copy()
        self.placed: dict[int, Placed] = {}

    @classmethod
    def of(cls, instance: PdOrsInstance, schedules: Mapping[int, Sequence[SlotPlan]]) -> Placing:
        """Return the placing with these schedules by job, which fit together."""
        placing = cls(instance)
        for i, schedule in schedules.items():
            job = instance.terms.jobs[i]
            completion = max(p.slot for p in schedule if any(x.workers for x in p.placements))
            placing._fix(job, tuple(schedule), float(job.utility[completion]))
        return placing

    @property
    def value(self) -> float:
        """The total utility."""
        return sum(one.utility for one in self.placed.values())

    def copy(self) -> Placing:
        """Return an independent copy."""
        other = Placing.__new__(Placing)
        other._instance, other._room = self._instance, self._room.copy()
        other.placed = dict(self.placed)
        return other

    def place(
        self,
        job: JobTerms,
        price: Floats,
        least: float = -np.inf,
        *,
        progress: Progress = "auto",
        options: SlotOptions | None = None,
    ) -> bool:
        """Place a job where its utility exceeds its cost most, if by `least`.

        Return True if it was placed.

        Parameters
        ----------
        job : JobTerms
        price : array, shape (slots, machines, resources)
            Per unit.
        least : float
        progress, options
            As in `best_plans`.
        """
        if not self._has_volume(job):
            return False
        options = options or SlotOptions("auto", grid=GRID)
        plans = best_plans(
            job, price, self._room, progress=progress, quanta=QUANTA, options=options
        ).values()
        useful = [plan for plan in plans if job.utility[plan.completion] > 0]
        best = max(useful, key=lambda p: job.utility[p.completion] - p.cost, default=None)
        if best is None or job.utility[best.completion] - best.cost < least:
            return False
        self._fix(job, best.slots, float(job.utility[best.completion]))
        return True

    def remove(self, i: int) -> None:
        """Take a job out."""
        self._charge(self.placed.pop(i).usage, -1)

    def decision(self) -> PdOrsSolution:
        """Return the schedules of all jobs."""
        found = (self.placed.get(i) for i in range(len(self._instance.jobs)))
        return PdOrsSolution(schedules=tuple(one.schedule if one else None for one in found))

    def _fix(self, job: JobTerms, schedule: tuple[SlotPlan, ...], utility: float) -> None:
        usage = usage_of(job, schedule)
        self._charge(usage, 1)
        self.placed[job.index] = Placed(schedule, usage, utility)

    def _has_volume(self, job: JobTerms) -> bool:
        """Return True if the slots in which the job earns have the volume for its work."""
        earning = np.flatnonzero(job.utility > 0)
        if job.earliest is None or not earning.size:
            return False
        n = job.least_worker_slots
        need = job.alpha * n + job.beta * job.least_server_slots(n)
        room = self._room[job.arrival - 1 : earning[-1]]
        return bool((need <= room.sum(axis=(0, 1))).all())

    def _charge(self, usage: Usage, times: int) -> None:
        np.subtract.at(self._room, (usage.slots - 1, usage.machines), times * usage.amounts)
