"""Sequential placement of gangs under a load limit, shared by Algorithms 1-3.

Every scheduler of the paper takes the jobs in some order and chooses GPUs for each, so that the
load U_g of a GPU, the sum of est_j / u over its jobs, never exceeds a limit theta. Loads are
integers here: est_j times the common denominator D of the estimates,

    U_g + est_j / u <= theta   is   load_g + D est_j <= floor(theta u D).

Two readings of "available" GPUs (the pseudo-code and the paper's analysis disagree):

* `"idle"`: the free GPUs. A job that finds too few waits for the next completion, and the jobs
  behind it wait too, so starts are non-decreasing.
* `"queue"`: all GPUs. A job joins the queue of each chosen GPU and starts when it is first in all
  of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Literal, Protocol

from gadgetopt.numbers.garbage import cycle_collector_paused
from gadgetopt.numbers.tolerance import decimal_rational

from ..instance import SjfBcoInstance, SjfBcoSolution
from ..size_limits import refuse_many_gpus
from .contention import SimulationClock

Availability = Literal["idle", "queue"]


class Batch:
    """Instance data for the schedulers: GPUs numbered across servers, integer loads.

    Attributes
    ----------
    est : list of int
        Load that a job adds to each of its GPUs, D est_j.
    est_upper, est_lower : Fraction
        u >= 1 and l <= 1, the tightest constants with est_j in [l rho_j, u rho_j] for every
        execution time rho_j between the shortest and the longest duration of the job. l is 0 when
        a job can stall.
    server_of : list of int
        The server of each GPU.
    first_gpu : list of int
        The first GPU of each server; the last entry is the number of GPUs N.

    Raises
    ------
    ModelRefused
        If the cluster has too many GPUs to list.
    """

    est_lower: Fraction
    est_upper: Fraction

    def __init__(self, instance: SjfBcoInstance):
        refuse_many_gpus(instance)
        self.instance = instance
        self.gpus: list[int] = instance.rates.gpus
        estimates = estimated_slots(instance)
        self.denominator: int = math.lcm(*{e.denominator for e in estimates})
        self.est: list[int] = [e.numerator * (self.denominator // e.denominator) for e in estimates]
        self.est_upper, self.est_lower = _range(instance, estimates)
        self.first_gpu: list[int] = [0]
        for capacity in instance.server_gpus:
            self.first_gpu.append(self.first_gpu[-1] + capacity)
        self.total_gpus: int = self.first_gpu[-1]
        self.server_of: list[int] = [
            s for s, c in enumerate(instance.server_gpus) for _ in range(c)
        ]
        # One shared tuple per server: fewer objects for the garbage collector.
        self.alone: list[tuple[int]] = [(s,) for s in range(len(instance.server_gpus))]

    @cached_property
    def smallest_first(self) -> list[int]:
        """Jobs in order of (G_j, j)."""
        return sorted(range(len(self.gpus)), key=lambda j: (self.gpus[j], j))

    @cached_property
    def shortlist_gpus(self) -> list[int]:
        """Least number of GPUs on the servers that LBSGF shortlists: ceil(lambda_j G_j)."""

        @cache  # few distinct pairs
        def wanted(spread_factor: float, gpus: int) -> int:
            return math.ceil(decimal_rational(spread_factor) * gpus)

        return [wanted(job.server_spread_factor, job.gpus) for job in self.instance.jobs]

    @property
    def unlimited(self) -> int:
        """A load that no GPU can exceed."""
        return sum(self.est)

    def limit(self, theta: int) -> int:
        """Return theta in load units."""
        return math.floor(theta * self.est_upper * self.denominator)

    def theta(self, load: int) -> Fraction:
        """Return a load in slots, as theta is measured."""
        return Fraction(load, self.denominator) / self.est_upper

    def fits(self, limit: int) -> bool:
        """Return True if the jobs' total load does not exceed the limit on all GPUs."""
        return max(self.est) <= limit and self._total_load <= self.total_gpus * limit

    @cached_property
    def _total_load(self) -> int:
        return sum(g * e for g, e in zip(self.gpus, self.est, strict=True))


def estimated_slots(instance: SjfBcoInstance) -> list[Fraction]:
    """Return the estimate of each job: `est_slots`, by default its shortest duration."""
    shortest = instance.rates.exec_min.tolist()
    return [
        Fraction(d) if job.est_slots is None else decimal_rational(job.est_slots)
        for job, d in zip(instance.jobs, shortest, strict=True)
    ]


def estimate_range(instance: SjfBcoInstance) -> tuple[Fraction, Fraction]:
    """Return (u, l), the tightest u >= 1 and l <= 1 with est_j in [l rho_j, u rho_j]."""
    return _range(instance, estimated_slots(instance))


def _range(instance: SjfBcoInstance, estimates: list[Fraction]) -> tuple[Fraction, Fraction]:
    u, low = Fraction(1), Fraction(1)
    shortest, longest = instance.rates.exec_min.tolist(), instance.rates.exec_max.tolist()
    for est, d_min, d_max in zip(estimates, shortest, longest, strict=True):
        if est > u * d_min:
            u = est / d_min
        if math.isinf(d_max):
            low = Fraction(0)
        elif est < low * int(d_max):
            low = est / int(d_max)
    return u, low


class Pool(Protocol):
    """The GPUs available to a scheduler, and its rule of choice.

    `take` chooses the GPUs of a job within the limit, adds its load to them and removes them from
    the pool, or returns None and changes nothing. `put` returns GPUs to the pool.
    """

    def take(self, j: int) -> Sequence[int] | None:
        """Choose the GPUs of job j, or None if too few are in the pool and within the limit."""
        ...

    def put(self, gpus: Sequence[int]) -> None:
        """Make GPUs available again."""
        ...

    def free(self) -> Iterable[int]:
        """Return the GPUs in the pool."""
        ...


#: Makes a pool from (batch, load of each GPU, limit, GPUs in the pool).
MakePool = Callable[[Batch, list[int], int, Iterable[int]], Pool]


@dataclass(frozen=True)
class Stage:
    """Jobs in the order in which they are placed, and the pool that chooses for them."""

    jobs: Sequence[int]
    make_pool: MakePool


@dataclass(frozen=True)
class Run:
    """One pass over the jobs at one load limit.

    Attributes
    ----------
    makespan : int or None
        True makespan; None if some job was not placed within the limit or stalls forever.
    max_load : int
        The largest load of a GPU; after a failure, by the jobs placed before it.
    placed : bool
        True if every job was placed within the limit.
    start, gpus : list
        a_j, and the GPUs of each job.
    """

    makespan: int | None
    max_load: int
    placed: bool
    start: list[int]
    gpus: list[Sequence[int]]


def run(batch: Batch, stages: Sequence[Stage], limit: int, availability: Availability) -> Run:
    """Place all jobs stage by stage under the load limit and simulate the schedule."""
    with cycle_collector_paused():
        if availability == "idle":
            return _run_idle(batch, stages, limit)
        if availability == "queue":
            return _run_queue(batch, stages, limit)
    raise ValueError(f"availability: {availability!r} is not 'idle' or 'queue'")


def _run_idle(batch: Batch, stages: Sequence[Stage], limit: int) -> Run:
    clock = SimulationClock(batch.instance)
    load = [0] * batch.total_gpus
    start = [0] * len(batch.gpus)
    gpus: list[Sequence[int]] = [()] * len(batch.gpus)
    free: Iterable[int] = range(batch.total_gpus)
    for stage in stages:
        pool = stage.make_pool(batch, load, limit, free)
        for j in stage.jobs:
            while (chosen := pool.take(j)) is None:
                completed = clock.advance()
                if not completed:  # nothing runs, or all running jobs have stalled
                    return Run(None, max(load), False, start, gpus)
                pool.put([g for i in completed for g in gpus[i]])
            start[j], gpus[j] = clock.now, chosen
            clock.start(j, servers_of(batch, chosen))
        free = pool.free()
    return Run(_completed(clock), max(load), True, start, gpus)


def _run_queue(batch: Batch, stages: Sequence[Stage], limit: int) -> Run:
    load = [0] * batch.total_gpus
    start = [0] * len(batch.gpus)
    gpus: list[Sequence[int]] = [()] * len(batch.gpus)
    # All GPUs are available, so choices depend on loads only and precede the simulation.
    queue: list[list[int]] = [[] for _ in range(batch.total_gpus)]
    for stage in stages:
        pool = stage.make_pool(batch, load, limit, range(batch.total_gpus))
        for j in stage.jobs:
            chosen = pool.take(j)
            if chosen is None:
                return Run(None, max(load), False, start, gpus)
            pool.put(chosen)
            gpus[j] = chosen
            for g in chosen:
                queue[g].append(j)
    clock = SimulationClock(batch.instance)
    _first_come_first_served(batch, clock, gpus, queue, start)
    return Run(_completed(clock), max(load), True, start, gpus)


def _first_come_first_served(
    batch: Batch,
    clock: SimulationClock,
    gpus: list[Sequence[int]],
    queue: list[list[int]],
    start: list[int],
) -> None:
    """Start each job as soon as it is first in the queues of all its GPUs."""
    for waiting in queue:
        waiting.reverse()
    behind = list(batch.gpus)  # number of GPUs on which the job is not yet first
    ready: list[int] = []
    freed: Iterable[int] = range(batch.total_gpus)
    while True:
        for g in freed:
            if queue[g]:
                behind[queue[g][-1]] -= 1
                if behind[queue[g][-1]] == 0:
                    ready.append(queue[g][-1])
        for j in ready:
            start[j] = clock.now
            clock.start(j, servers_of(batch, gpus[j]))
        ready.clear()
        completed = clock.advance()
        if not completed:
            return
        freed = [g for j in completed for g in gpus[j]]
        for g in freed:
            queue[g].pop()


def servers_of(batch: Batch, gpus: Sequence[int]) -> Sequence[int]:
    """Return the distinct servers of the given GPUs."""
    if len(gpus) == 1:
        return batch.alone[batch.server_of[gpus[0]]]
    return tuple({batch.server_of[g] for g in gpus})


def _completed(clock: SimulationClock) -> int | None:
    """Run all jobs to completion and return the makespan; None if some job never ends."""
    while clock.advance():
        pass
    finished = [c for c in clock.completion if c is not None]
    return max(finished) if len(finished) == len(clock.completion) else None


def solution_of(batch: Batch, schedule: Run) -> SjfBcoSolution:
    """Return a run as a solution: starts, GPUs per server, and GPU ids."""
    ids: list[dict[int, tuple[int, ...]]] = []
    for gpus in schedule.gpus:
        on: dict[int, list[int]] = {}
        for g in sorted(gpus):
            s = batch.server_of[g]
            on.setdefault(s, []).append(g - batch.first_gpu[s])
        ids.append({s: tuple(local) for s, local in on.items()})
    return SjfBcoSolution(
        start_slot=tuple(schedule.start),
        placement=tuple({s: len(local) for s, local in on.items()} for on in ids),
        gpu_ids=tuple(ids),
    )
