r"""Contents of one server: which jobs have how many tasks there, and how much they are slowed down.

A content P is a multiset of jobs, :math:`P_j \le n_j` tasks of each, that fits into a server. Jobs
of one task that are alike are interchangeable: they may enter as one lot, of which a content has
any number. A gang, a job of several tasks, is a lot of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.errors import ModelRefused

from .cluster import ClusterInstance

#: Tasks of each lot in a server: pairs (lot, number), by lot.
Content = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Lot:
    r"""A gang, or single-task jobs that are alike.

    Attributes
    ----------
    jobs : tuple of int
    tasks : int
        Of all its jobs.
    type : int
        Row of the table of interference.
    gpus, cpus : int
        Demand of one task.
    job_s : Fraction
        :math:`W_j t^0_j` of one of its jobs: seconds alone.
    gang : bool
        True if it is one job of several tasks.
    """

    jobs: tuple[int, ...]
    tasks: int
    type: int
    gpus: int
    cpus: int
    job_s: Fraction
    gang: bool

    def weight(self, tasks: int, *, per_task: bool) -> int:
        """Return how often this many tasks count as neighbours."""
        return tasks if per_task or not self.gang else 1

    def own_weight(self, tasks: int, *, per_task: bool) -> int:
        """Return how much of it one of its jobs is itself."""
        return self.weight(tasks, per_task=per_task) if self.gang else 1


def lots_of(instance: ClusterInstance, *, merged: bool) -> list[Lot]:
    """Return the gangs, and the other jobs one by one or, `merged`, those that are alike as one.

    Lots are in the order of their first jobs.
    """
    alike: dict[object, list[int]] = {}
    for j, job in enumerate(instance.jobs):
        key: object = j
        if merged and job.num_tasks == 1:
            work_s = job.iterations * job.base_iteration_s
            key = (job.type, job.gpus_per_task, job.cpus_per_task, work_s)
        alike.setdefault(key, []).append(j)
    lots = []
    for members in alike.values():
        job = instance.jobs[members[0]]
        lots.append(
            Lot(
                jobs=tuple(members),
                tasks=len(members) * job.num_tasks,
                type=job.type,
                gpus=job.gpus_per_task,
                cpus=job.cpus_per_task,
                job_s=job.iterations * job.base_iteration_s,
                gang=job.num_tasks > 1,
            )
        )
    return lots


def enumerate_contents(lots: Sequence[Lot], gpus: int, cpus: int, most: int) -> list[Content]:
    """Return all contents of a server of this size but the empty one.

    Raises
    ------
    ModelRefused
        If there are more than `most`.
    """
    found: list[Content] = []
    open_: list[tuple[Content, int, int, int]] = [((), 0, gpus, cpus)]
    while open_:
        content, first, gpus_left, cpus_left = open_.pop()
        for i in range(first, len(lots)):
            lot = lots[i]
            for tasks in range(1, lot.tasks + 1):
                g, u = gpus_left - tasks * lot.gpus, cpus_left - tasks * lot.cpus
                if g < 0 or u < 0:
                    break
                larger = (*content, (i, tasks))
                open_.append((larger, i + 1, g, u))
                found.append(larger)
            if len(found) > most:
                raise ModelRefused(f"a server has more than {most} possible contents")
    return sorted(found)


class Slowdowns:
    """The slowdowns of jobs by their neighbours, looked up once each.

    Parameters
    ----------
    instance : ClusterInstance
    lots : sequence of Lot
        Of its jobs.
    """

    def __init__(self, instance: ClusterInstance, lots: Sequence[Lot]):
        self._instance, self._lots = instance, lots
        self._known: dict[tuple[int, tuple[int, ...]], Fraction] = {}

    def of(self, content: Content) -> list[Fraction]:
        """Return the relative slowdown of each lot in a content, in its order."""
        per_task = self._instance.per_task
        counts = [0] * self._instance.num_types
        for i, tasks in content:
            counts[self._lots[i].type] += self._lots[i].weight(tasks, per_task=per_task)
        slowdowns = []
        for i, tasks in content:
            lot = self._lots[i]
            own = lot.own_weight(tasks, per_task=per_task)
            counts[lot.type] -= own
            slowdowns.append(self.among(lot.type, tuple(counts)))
            counts[lot.type] += own
        return slowdowns

    def among(self, victim: int, neighbours: tuple[int, ...]) -> Fraction:
        """Return the slowdown of a type by how many neighbours of each type there are."""
        key = (victim, neighbours)
        if key not in self._known:
            measured = self._instance.measured_slowdowns.get(key)
            if measured is None:
                table = self._instance.interference[victim]
                pairs = zip(table, neighbours, strict=True)
                measured = sum((a * n for a, n in pairs if n), Fraction(0))
            self._known[key] = measured
        return self._known[key]
