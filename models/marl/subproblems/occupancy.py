r"""What lies where while a heuristic works, and what each job's iterations then take, in doubles.

The cost of a job is :math:`W_j t_j`; the sum over all placed jobs is what heuristics compare. Every
change touches one server; only the jobs there, and the job that is moved, have another cost then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from .cluster import ClusterInstance


class Occupancy:
    """The tasks on every server.

    Parameters
    ----------
    instance : ClusterInstance
    iterations : sequence of int or float, optional
        Iterations that each job has left; else all of them.

    Attributes
    ----------
    jobs_on : list of dict
        For every server the tasks of each job there.
    servers_of : list of dict
        For every job its tasks on each server.
    free_gpus, free_cpus : list of int
        For every server.
    """

    def __init__(self, instance: ClusterInstance, iterations: Sequence[float] | None = None):
        jobs = instance.jobs
        self.instance = instance
        self.kind: list[int] = [job.type for job in jobs]
        self.gpus: list[int] = [job.gpus_per_task for job in jobs]
        self.cpus: list[int] = [job.cpus_per_task for job in jobs]
        self.iterations: list[float] = [float(job.iterations) for job in jobs]
        if iterations is not None:
            self.iterations = list(iterations)
        self.base_s: list[float] = [float(job.base_iteration_s) for job in jobs]
        self.rack_s: list[float] = [float(job.rack_comm_s) for job in jobs]
        self.cross_s: list[float] = [float(job.cross_comm_s) for job in jobs]
        self.rack: list[int] = [server.rack for server in instance.servers]
        self.alpha: list[list[float]] = instance.alpha.tolist()
        self.measured: dict[tuple[int, tuple[int, ...]], float] = {
            key: float(a) for key, a in instance.measured_slowdowns.items()
        }
        self.free_gpus: list[int] = [server.gpus for server in instance.servers]
        self.free_cpus: list[int] = [server.cpus for server in instance.servers]
        self.jobs_on: list[dict[int, int]] = [{} for _ in instance.servers]
        self.servers_of: list[dict[int, int]] = [{} for _ in jobs]

    @classmethod
    def of(cls, instance: ClusterInstance, tasks: Iterable[Iterable[tuple[int, int]]]) -> Self:
        """Return the occupancy of a placement of all jobs, as solutions hold it."""
        made = cls(instance)
        for j, pairs in enumerate(tasks):
            for s, n in pairs:
                made.put(j, s, n)
        return made

    def room(self, j: int, s: int) -> int:
        """Return how many further tasks of a job a server has room for; many if they need none."""
        g, u = self.gpus[j], self.cpus[j]
        by_gpus = self.free_gpus[s] // g if g else self.instance.num_tasks
        by_cpus = self.free_cpus[s] // u if u else self.instance.num_tasks
        return min(by_gpus, by_cpus)

    def put(self, j: int, s: int, n: int = 1) -> None:
        """Put n tasks of a job on a server; with a negative n, take them away."""
        self.free_gpus[s] -= n * self.gpus[j]
        self.free_cpus[s] -= n * self.cpus[j]
        here, there = self.jobs_on[s], self.servers_of[j]
        now = here.get(j, 0) + n
        if now:
            here[j] = there[s] = now
        else:
            del here[j], there[s]

    def clear(self, j: int) -> dict[int, int]:
        """Take all tasks of a job away; return where they were."""
        was = dict(self.servers_of[j])
        for s, n in was.items():
            self.put(j, s, -n)
        return was

    def restore(self, j: int, tasks: Mapping[int, int]) -> None:
        """Put a job that is nowhere on these servers."""
        for s, n in tasks.items():
            self.put(j, s, n)

    def slowdown(self, j: int, s: int) -> float:
        """Return the relative slowdown of a job by the other jobs on a server."""
        kind, per_task = self.kind, self.instance.per_task
        others = [(kind[k], n if per_task else 1) for k, n in self.jobs_on[s].items() if k != j]
        if self.measured and others:
            counts = [0] * len(self.alpha)
            for a, n in others:
                counts[a] += n
            known = self.measured.get((kind[j], tuple(counts)))
            if known is not None:
                return known
        row = self.alpha[kind[j]]
        total = 0.0
        for a, n in others:
            total += row[a] * n
        return total

    def worst(self, j: int) -> float:
        """Return the slowdown of a job on its bottleneck server."""
        return max((self.slowdown(j, s) for s in self.servers_of[j]), default=0.0)

    def comm_s(self, j: int) -> float:
        """Return what an iteration of a job takes longer because of where its servers are."""
        there = self.servers_of[j]
        if len(there) <= 1:
            return 0.0
        racks = {self.rack[s] for s in there}
        return self.cross_s[j] if len(racks) > 1 else self.rack_s[j]

    def iteration_s(self, j: int) -> float:
        """Return t_j."""
        return self.base_s[j] * (1.0 + self.worst(j)) + self.comm_s(j)

    def cost(self, j: int) -> float:
        """Return W_j t_j of a job that is placed, 0 of another."""
        return self.iterations[j] * self.iteration_s(j) if self.servers_of[j] else 0.0

    def cost_of(self, jobs: Iterable[int]) -> float:
        """Return the sum of the costs of some jobs."""
        return sum(self.cost(j) for j in jobs)

    def total(self) -> float:
        """Return the cost of all placed jobs."""
        return self.cost_of(range(len(self.kind)))
