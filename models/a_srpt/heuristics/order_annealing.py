r"""Annealing over the order of a list schedule, in the pool or on the servers (ours).

Jobs start in the order of a list, none before the job ahead of it: the first job of the list that
is left starts at the earliest tick at which its servers have room. Every schedule of the pool is
the one of its starts' order, so nothing is lost there. On the servers, every job is mapped
as on the empty cluster, so that it runs at its fastest: its *parts* are the GPUs of that mapping on
each server. The largest part is placed first, each on the server with enough free GPUs that is kept
busy for the fewest ticks more (ties: that with fewest free GPUs). Long jobs of few GPUs so come
together, and other servers empty for large jobs.

A step moves one job in the list or swaps two, and is accepted with probability
:math:`e^{-\Delta / T}` if it costs :math:`\Delta > 0`. A step takes O(n M) time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.compiled import compiled, taken_in
from gadgetopt.numbers.loop_pieces import put
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.search.clock import Clock

from ..instance import ASrptInstance, ASrptSolution, ScheduledJob
from ..relaxations import Pool
from ..subproblems.mapper import (
    Mapper,
    gpus_held,
    on_servers,
)

#: Last temperature, as a part of the first. Tuned: `benchmarks/constants.py`.
COLD = 1 / 300
#: Part of the moves that go anywhere; the others go at most this far in the list.
#: Tuned: `benchmarks/constants.py`.
FAR, NEAR = 0.25, 10
#: Most steps, times the jobs times themselves: a list of n jobs has about so many neighbours. More
#: found nothing better on 16 instances of 8 to 30 jobs. Tuned: `benchmarks/constants.py`.
STEPS_A_PAIR = 50
#: Most steps between two looks at the clock, and these times jobs times servers.
#: Tuned: `benchmarks/constants.py`.
CHUNK, CHUNK_WORK = 500, 2 * 10**7
#: Servers times moments, of all jobs, that are looked at for servers of known starts: about two
#: seconds. Tuned: `benchmarks/constants.py`.
MOST_PLACES = 10**9

#: Release, ticks, weight; first part of each job, and the GPUs of all parts; GPUs of servers.
_Jobs = tuple[Ints, Ints, Ints, Ints, Ints, Ints]


class Lists:
    """Lists of jobs, and their schedules.

    Parameters
    ----------
    release, ticks, weight : array of int, shape (jobs,)
    parts : sequence of sequence of int
        GPUs of every job on the servers that it needs, most first.
    capacities : sequence of int
        GPUs of the servers.
    """

    def __init__(
        self,
        release: Ints,
        ticks: Ints,
        weight: Ints,
        parts: Sequence[Sequence[int]],
        capacities: Sequence[int],
    ):
        self.first_part: Ints = np.cumsum([0, *map(len, parts)]).astype(np.int64)
        every = np.array([gpus for of_job in parts for gpus in of_job], dtype=np.int64)
        servers = np.array(capacities, dtype=np.int64)
        self._jobs: _Jobs = (release, ticks, weight, self.first_part, every, servers)

    def value(self, order: Ints) -> int:
        """Return the weighted sum of completions of a list."""
        return self.decoded(order)[0]

    def decoded(self, order: Ints) -> tuple[int, list[int], list[int]]:
        """Return the value of a list, its starts in ticks, and the server of every part."""
        starts, servers = np.zeros_like(order), np.zeros_like(self._jobs[4])
        none = np.zeros((0, 4))
        value, _ = _anneal(self._jobs, order, order, starts, servers, 0, 0, none[:, 0].copy(), none)
        return int(value), starts.tolist(), servers.tolist()

    def anneal(
        self, order: Ints, steps: int, hot: float, rng: np.random.Generator, clock: Clock
    ) -> tuple[int, Ints]:
        """Return the best value found from a list on, and its list.

        Parameters
        ----------
        order : array of int, shape (jobs,)
        steps : int
            At most; fewer for few jobs.
        hot : float
            First temperature, as a part of the mean weighted wait of a job.
        rng : numpy.random.Generator
        clock : Clock
        """
        n, (release, ticks, weight) = len(order), self._jobs[:3]
        current, best = order.copy(), order.copy()
        least = value = self.value(order)
        first = hot * (value - int((weight * (release + ticks)).sum())) / n
        if first <= 0 or n < 2:
            return least, best
        steps = min(steps, STEPS_A_PAIR * n * n)
        starts, servers = np.zeros_like(order), np.zeros_like(self._jobs[4])
        chunk = max(1, min(CHUNK, CHUNK_WORK // (n * len(self._jobs[5]))))
        for begin in range(0, steps, chunk):
            if clock.expired:
                break
            count = min(chunk, steps - begin)
            cooled = first * COLD ** (np.arange(begin, begin + count) / steps)
            draws = rng.random((count, 4))
            value, least = _anneal(
                self._jobs, current, best, starts, servers, value, least, cooled, draws
            )
        return int(least), best


def pool_lists(pool: Pool) -> Lists:
    """Return the lists of the pool: one server with all GPUs."""
    parts = pool.gpus[:, None].tolist()
    return Lists(pool.release, pool.duration, pool.weight, parts, [pool.total_gpus])


class ServerLists(Lists):
    """Lists of the jobs of an instance on its servers; values are times the weight scale.

    Parameters
    ----------
    instance : ASrptInstance
    mapper : Mapper
    """

    def __init__(self, instance: ASrptInstance, mapper: Mapper):
        shapes = {t: _shape(instance, mapper, t) for t in {job.job_type for job in instance.jobs}}
        self._shapes = [shapes[job.job_type][0] for job in instance.jobs]
        units = [shapes[job.job_type][1] for job in instance.jobs]
        ticks = [instance.ticks(j, u) for j, u in enumerate(units)]
        jobs = instance.release_ticks, np.array(ticks, dtype=np.int64), instance.whole_weights
        parts = [
            gpus_held(instance.job_types[job.job_type], tuple(zip(*columns, strict=True)))
            for job, columns in zip(instance.jobs, self._shapes, strict=True)
        ]
        super().__init__(*jobs, parts, instance.gpus_per_server)
        self._microticks = instance.total_gpus
        #: The same jobs on one server with all GPUs.
        self.pool: Lists = Lists(*jobs, [[sum(of_job)] for of_job in parts], [instance.total_gpus])

    def solution(self, order: Ints) -> ASrptSolution:
        """Return the schedule of a list."""
        _, starts, servers = self.decoded(order)
        return self._schedule(order, starts, servers)

    def packed(self, order: Ints) -> ASrptSolution | None:
        """Return a list's schedule of the pool on servers, None if not all parts find one.

        Also None if jobs, moments and servers are too many.

        The starts are known, so the job that ends last is placed first: its parts lie where servers
        then are busy for the fewest ticks more, beside others that also end late.
        """
        _, _, _, first, parts, capacities = self._jobs
        starts = np.array(self.pool.decoded(order)[1])
        ends = starts + self._jobs[1]
        moments = np.unique(np.concatenate([starts, ends]))
        begin, end = np.searchsorted(moments, starts), np.searchsorted(moments, ends)
        if (
            len(capacities) * int((end - begin).sum()) > MOST_PLACES
            or len(capacities) * len(moments) > MOST_CELLS
        ):
            return None
        lengths, servers = np.diff(moments), np.zeros_like(parts)
        free = np.repeat(capacities[:, None], len(lengths), axis=1)
        for j in np.lexsort((-(first[1:] - first[:-1]), -ends)).tolist():
            run = slice(begin[j], end[j])
            room = free[:, run].min(axis=1)
            more = (free[:, run] == capacities[:, None]) @ lengths[run]
            for q in range(first[j], first[j + 1]):
                possible = np.flatnonzero(room >= parts[q])
                if not len(possible):
                    return None
                best = np.lexsort((room[possible], more[possible]))[0]
                m = servers[q] = possible[best]
                free[m, run] -= parts[q]
                room[m] = 0  # parts are on different servers
        return self._schedule(order, starts.tolist(), servers.tolist())

    def _schedule(
        self, order: Ints, starts: Sequence[int], servers: Sequence[int]
    ) -> ASrptSolution:
        first = self.first_part.tolist()
        return ASrptSolution(
            jobs=tuple(
                ScheduledJob(
                    job=j,
                    start_microtick=self._microticks * starts[j],
                    placement=on_servers(
                        tuple(zip(*self._shapes[j], strict=True)), servers[first[j] : first[j + 1]]
                    ),
                )
                for j in order.tolist()
            )
        )


def _shape(
    instance: ASrptInstance, mapper: Mapper, job_type: int
) -> tuple[list[tuple[int, ...]], int]:
    """Return a type's replicas on each server of the empty cluster, most first, and its time."""
    placement, units = mapper.mapped_on_empty_cluster(job_type)
    columns = [column for column in zip(*placement, strict=True) if any(column)]
    sizes = instance.job_types[job_type].block_of_stage

    def gpus(column: tuple[int, ...]) -> int:
        return sum(size * x for size, x in zip(sizes, column, strict=True))

    return sorted(columns, key=gpus, reverse=True), units


@compiled
def _anneal(
    jobs: _Jobs,
    order: Ints,
    best: Ints,
    starts: Ints,
    servers: Ints,
    value: int,
    least: int,
    temperatures: Floats,
    draws: Floats,
) -> tuple[int, int]:
    """Make a step at each temperature, change `order` and `best`; return their values.

    Without temperatures, write the starts and servers of `order` and return its value. A function
    of its own for that would be compiled twice: for Python, and for this one.
    """
    n = len(order)
    if len(temperatures) == 0:
        value = least = _decode(jobs, order, starts, servers)
    changed = order.copy()
    for step in range(len(temperatures)):
        kind, a = draws[step, 0], int(draws[step, 1] * n)
        b = int(draws[step, 2] * n)
        if kind >= FAR:
            b = a - NEAR + int(draws[step, 2] * (2 * NEAR + 1))
        if b < 0 or b >= n or a == b:
            continue
        put(changed, order)
        if kind < FAR / 2 or kind >= (1 + FAR) / 2:
            toward = 1 if a < b else -1
            for k in range(a, b, toward):
                changed[k] = order[k + toward]
            changed[b] = order[a]
        else:
            changed[a], changed[b] = order[b], order[a]
        new = _decode(jobs, changed, starts, servers)
        if new <= value or draws[step, 3] < math.exp((value - new) / temperatures[step]):
            value = new
            put(order, changed)
            if value < least:
                least = value
                put(best, order)
    return value, least


@compiled
def _decode(jobs: _Jobs, order: Ints, starts: Ints, servers: Ints) -> int:
    """Return the value of a list; write its starts, and the server of every part."""
    release, ticks, weight, first, parts, capacities = jobs
    # Room of the right size; new arrays would take longer to compile.
    free, busy_until = capacities.copy(), capacities.copy()
    ends, running = order.copy(), order.copy()
    busy_until[:] = 0
    now, size, total = 0, 0, 0
    for j in order:
        now = max(now, release[j])
        while True:
            while size > 0 and ends[0] <= now:
                done = running[0]
                for q in range(first[done], first[done + 1]):
                    free[servers[q]] += parts[q]
                size = _pop(ends, running, size)
            if _place(j, now, now + ticks[j], first, parts, free, busy_until, servers):
                break
            now = ends[0]
        starts[j] = now
        total += weight[j] * (now + ticks[j])
        size = _push(ends, running, size, now + ticks[j], j)
    return total


@taken_in
def _place(
    j: int,
    now: int,
    end: int,
    first: Ints,
    parts: Ints,
    free: Ints,
    busy_until: Ints,
    servers: Ints,
) -> bool:
    """Place a job's parts on different servers; change nothing and return False if none fit."""
    begin, stop = first[j], first[j + 1]
    for q in range(begin, stop):
        chosen, least = -1, 0
        for m in range(len(free)):
            if free[m] >= parts[q]:
                longer = max(0, end - max(busy_until[m], now))
                fewer = chosen < 0 or longer < least
                if fewer or (longer == least and free[m] < free[chosen]):
                    for p in range(begin, q):
                        if servers[p] == m:
                            break
                    else:
                        chosen, least = m, longer
        if chosen < 0:
            for p in range(begin, q):
                free[servers[p]] += parts[p]
            return False
        servers[q] = chosen
        free[chosen] -= parts[q]
    for q in range(begin, stop):
        busy_until[servers[q]] = max(busy_until[servers[q]], end)
    return True


@taken_in
def _push(ends: Ints, running: Ints, size: int, end: int, job: int) -> int:
    """Add a job to the heap of those that run, by their ends; return its new size."""
    at = size
    while at > 0 and ends[(at - 1) >> 1] > end:
        ends[at], running[at] = ends[(at - 1) >> 1], running[(at - 1) >> 1]
        at = (at - 1) >> 1
    ends[at], running[at] = end, job
    return size + 1


@taken_in
def _pop(ends: Ints, running: Ints, size: int) -> int:
    """Take the job that ends first from the heap; return its new size."""
    size -= 1
    end, job = ends[size], running[size]
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and ends[child + 1] < ends[child]:
            child += 1
        if ends[child] >= end:
            break
        ends[at], running[at] = ends[child], running[child]
        at = child
    ends[at], running[at] = end, job
    return size
