r"""First in, first out (FIFO) and dominant resource fairness (DRF).

As the OASiS paper describes them; details that it leaves open are (reconstructed). Neither
considers utilities or the horizon, nor has a guarantee. Workers and servers go to machines in turn,
a pointer moving on to the next machine with room for each unit, workers before servers; so jobs are
mostly spread, and train at the external speed. Where jobs are not to be spread, whole jobs go to
machines in turn (reconstructed).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import (
    PdOrsInstance,
    PdOrsSolution,
    Placement,
    SlotPlan,
)
from ..subproblems.prices import by_arrival
from ..terms import JobTerms

Counts = dict[int, list[int]]

#: Machines that are looked at first for room; four times as many each time that none has it.
#: Tuned: `benchmarks/constants.py`.
_LOOKED_AT = 32


class Cluster:
    """Machines of one slot that are filled one unit after the other, in turn.

    Attributes
    ----------
    room : array of int, shape (machines, resources)
        Free capacity, in units.
    """

    def __init__(self, room: Ints, pointer: int = 0):
        self.room: Ints = room.copy()
        self.pointer: int = pointer

    def next_with(self, demand: Ints) -> int | None:
        """Return the first machine with room for a demand, from the pointer on; None if none."""
        for first, last in ((self.pointer, len(self.room)), (0, self.pointer)):
            begin, many = first, _LOOKED_AT
            while begin < last:
                end = min(begin + many, last)
                fits = np.asarray((self.room[begin:end] >= demand).all(axis=1))
                found = int(fits.argmax())
                if fits[found]:
                    return begin + found
                begin, many = end, 4 * many
        return None

    def take(self, machine: int, demand: Ints) -> None:
        """Give a machine's room away and move the pointer behind it."""
        self.room[machine] -= demand
        self.pointer = (machine + 1) % len(self.room)

    def add(self, job: JobTerms, held: Counts, workers: int, servers: int) -> bool:
        """Add workers, then servers to what a job holds, in turn; nothing if not all fit.

        A job that is not to be spread gets them on its machine, or all on the next with room.
        """
        if job.instance.locality == "internal_only":
            return self._add_together(job, held, workers, servers)
        pointer = self.pointer
        given: list[tuple[int, int]] = []
        for kind, demand, count in ((0, job.alpha, workers), (1, job.beta, servers)):
            for _ in range(count):
                machine = self.next_with(demand)
                if machine is None:
                    for taken, kind_taken in given:
                        self.room[taken] += (job.alpha, job.beta)[kind_taken]
                    self.pointer = pointer
                    return False
                self.take(machine, demand)
                given.append((machine, kind))
        for machine, kind in given:
            held.setdefault(machine, [0, 0])[kind] += 1
        return True

    def _add_together(self, job: JobTerms, held: Counts, workers: int, servers: int) -> bool:
        demand = workers * job.alpha + servers * job.beta
        home = next(iter(held), None)
        machine = self.next_with(demand) if home is None else home
        if machine is None or (self.room[machine] < demand).any():
            return False
        if home is None:
            self.take(machine, demand)
        else:
            self.room[machine] -= demand
        mine = held.setdefault(machine, [0, 0])
        mine[0] += workers
        mine[1] += servers
        return True


@dataclass
class Course:
    """A job as a simulation goes through the slots.

    Attributes
    ----------
    done : Fraction
        External worker-slots' worth of work so far.
    plans : list of SlotPlan
        Slots in which the job holds the same share their placements.
    """

    job: JobTerms
    done: Fraction = Fraction(0)
    plans: list[SlotPlan] = field(default_factory=list)
    _held: list[tuple[int, int, int]] | None = None

    @property
    def complete(self) -> bool:
        """True if the work is done."""
        return self.done >= self.job.work

    def train(self, slot: int, held: Counts) -> None:
        """Add a slot in which the job holds workers and servers on machines."""
        counts = sorted((h, w, s) for h, (w, s) in held.items())
        if counts == self._held:
            placements = self.plans[-1].placements
        else:
            placements = tuple(Placement(machine=h, workers=w, servers=s) for h, w, s in counts)
            self._held = counts
        self.plans.append(SlotPlan(slot=slot, placements=placements))
        workers = sum(w for _, w, _ in counts)
        self.done += workers * (self.job.sigma if len(counts) == 1 else 1)


@method(kind="baseline", reference="baseline FIFO")
def fifo(
    instance: PdOrsInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    fewest_workers: int = 1,
    most_workers: int = 30,
) -> MethodOutcome:
    """First in, first out, a fixed number of workers drawn for every job.

    Jobs start in order of arrival, as soon as they fit; the first that waits blocks those behind
    it. A job keeps its workers and servers, and where they are, until it is done. One that does not
    fit into the empty cluster is dropped; jobs that are not done at the horizon earn nothing.

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is checked in every slot; unfinished jobs are then rejected.
    rng : numpy.random.Generator
        Draws each job's number of workers between the two bounds, capped by F_i.
    fewest_workers, most_workers : int
        1 to 30, as in OASiS.

    Raises
    ------
    ModelRefused
        If the bounds are not in order.
    """
    if not 1 <= fewest_workers <= most_workers:
        raise ModelRefused(f"fifo: {fewest_workers} to {most_workers} workers is not a range")
    clock, terms = Clock(limits), instance.terms
    drawn = rng.integers(fewest_workers, most_workers + 1, size=len(terms.jobs)).tolist()
    workers = [_usable(job, n) for job, n in zip(terms.jobs, drawn, strict=True)]
    courses = [Course(job) for job in terms.jobs]
    arriving, waiting = deque(by_arrival(instance)), deque[int]()
    running: dict[int, Counts] = {}
    cluster, limit_hit = Cluster(terms.capacity), None
    for t in range(1, terms.horizon + 1):
        if clock.expired:
            limit_hit = "time_s"
            break
        while arriving and terms.jobs[arriving[0]].arrival == t:
            waiting.append(arriving.popleft())
        while waiting:
            if not running:
                cluster.pointer = 0  # as below, so that nobody waits for an empty cluster
            i = waiting[0]
            job, held = terms.jobs[i], Counts()
            need = workers[i], int(job.servers[workers[i]])
            if need[0] and cluster.add(job, held, *need):
                running[i] = held
            elif need[0] and Cluster(terms.capacity).add(job, Counts(), *need):
                break
            waiting.popleft()
        for i in list(running):
            courses[i].train(t, running[i])
            if courses[i].complete:
                for h, (w, s) in running.pop(i).items():
                    cluster.room[h] += w * terms.jobs[i].alpha + s * terms.jobs[i].beta
    return outcome_of_courses(instance, courses, limit_hit)


@method(kind="baseline", reference="baseline DRF")
def drf(instance: PdOrsInstance, limits: Limits) -> MethodOutcome:
    r"""Dominant resource fairness, recomputed in every slot.

    Each slot is filled from nothing: one more worker, and a server whenever it needs one, to the
    job with the least dominant share :math:`\max_r (\\alpha^r n + \\beta^r s) / \sum_h C_h^r`,
    the earlier arrival of equals, until nothing fits.

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is checked in every slot; unfinished jobs are then rejected.
    """
    clock, terms = Clock(limits), instance.terms
    courses = [Course(job) for job in terms.jobs]
    order, limit_hit = by_arrival(instance), None
    for t in range(1, terms.horizon + 1):
        if clock.expired:
            limit_hit = "time_s"
            break
        active = [i for i in order if terms.jobs[i].arrival <= t and not courses[i].complete]
        for i, held in fair_shares(instance, active).items():
            courses[i].train(t, held)
    return outcome_of_courses(instance, courses, limit_hit)


def fair_shares(
    instance: PdOrsInstance, active: Sequence[int], running: Mapping[int, Counts] | None = None
) -> dict[int, Counts]:
    """Return the workers and servers that DRF gives the active jobs.

    Parameters
    ----------
    instance : PdOrsInstance
    active : sequence of int
        In order of arrival.
    running : mapping, optional
        Units that other jobs hold and keep; none by default.

    Returns
    -------
    dict
        Of a job, machine to workers and servers.
    """
    terms = instance.terms
    cluster = Cluster(terms.capacity)
    for i, kept in (running or {}).items():
        for h, (w, s) in kept.items():
            cluster.room[h] -= w * terms.jobs[i].alpha + s * terms.jobs[i].beta
    total = terms.capacity.sum(axis=0).astype(float)
    held: dict[int, Counts] = {}
    workers = dict.fromkeys(active, 0)
    queue = [(0.0, place, i) for place, i in enumerate(active)]
    while queue:
        _, place, i = heapq.heappop(queue)
        job, n = terms.jobs[i], workers[i]
        more = np.flatnonzero(job.usable[n + 1 :])
        if len(more) == 0:
            continue
        wanted = n + 1 + int(more[0])
        extra = int(job.servers[wanted] - job.servers[n])
        mine = held.get(i, Counts())
        # A job without room now has none later in the slot either.
        if not cluster.add(job, mine, wanted - n, extra):
            continue
        held[i], workers[i] = mine, wanted
        heapq.heappush(queue, (dominant_share(job, wanted, total), place, i))
    return held


def dominant_share(job: JobTerms, workers: int, total: Floats) -> float:
    """Return the largest part of a resource of the whole cluster that workers and servers take."""
    demand = job.demand[workers]
    taken = demand > 0
    return float((demand[taken] / total[taken]).max(initial=0.0))


def outcome_of_courses(
    instance: PdOrsInstance, courses: list[Course], limit_hit: str | None
) -> MethodOutcome:
    """Return the outcome in which jobs that are done are accepted, and the others rejected."""
    schedules = tuple(tuple(course.plans) if course.complete else None for course in courses)
    completed = sum(schedule is not None for schedule in schedules)
    started = sum(bool(course.plans) for course in courses)
    return MethodOutcome(
        solution=PdOrsSolution(schedules=schedules),
        limit_hit=limit_hit,
        notes={"completed": completed, "started": started},
    )


def _usable(job: JobTerms, n: int) -> int:
    """Return the most workers up to n and F that the job may have, else the fewest; 0 if none."""
    allowed = np.flatnonzero(job.usable)[1:]
    if len(allowed) == 0:
        return 0
    below = allowed[allowed <= n]
    return int(below[-1] if len(below) else allowed[0])
