"""LPT (longest processing time first) on single servers, and iterated randomised LPT.

A reference heuristic that is not in the paper (reconstructed). Jobs that fit on a server run on
one, so there is no contention and every duration is known in advance. Jobs larger than every server
are placed first and reserve whole servers, so that no two spread jobs ever share a server.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..energetic import energetic_bound
from ..instance import SjfBcoInstance, SjfBcoSolution
from ..size_limits import refuse_many

_NOISE = (0.02, 0.05, 0.1, 0.2)  # eta of the duration priorities. Tuned: `benchmarks/constants.py`.
#: Range of the exponent of G_j in the size priorities. Tuned: `benchmarks/constants.py`.
_EXPONENT = (0.1, 0.25)

#: Limit on the table of free times, GPUs of the largest server times servers: 80 MB.
MOST_FREE_TIMES = MOST_CELLS // 2


@dataclass(frozen=True)
class Schedule:
    """Schedule of one pass: starts, placements and makespan."""

    makespan: int
    start: list[int]
    placement: list[dict[int, int]]

    def solution(self) -> SjfBcoSolution:
        """Return the schedule as a solution."""
        return SjfBcoSolution(start_slot=tuple(self.start), placement=tuple(self.placement))


@method(kind="heuristic", reference="reference heuristic (reconstructed)")
def lpt_ils(
    instance: SjfBcoInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    restarts: int = 200,
) -> MethodOutcome:
    """Local placements, longest first, iterated (not in the paper).

    Return the best of LPT and of many randomised passes (reconstructed).

    A restart draws job priorities near the durations d_j, either d_j (1 + U[-eta, eta]) or
    d_j G_j^x, and a target M between a lower bound and the best makespan less one. Among the places
    where a job completes by M it takes the one that wastes the least GPU time; ties go to the
    latest completion. If there is none, it takes the earliest completion. No guarantee. A restart
    takes O(|J| N).

    Parameters
    ----------
    instance : SjfBcoInstance
    limits : Limits
        `time_s` stops early.
    rng : numpy.random.Generator
    restarts : int, default 200
        Number of randomised passes; fewer if the best makespan reaches the lower bound.

    Returns
    -------
    MethodOutcome
        No solution if the best schedule ends after the horizon.

    Raises
    ------
    ModelRefused
        If the largest server has too many usable GPUs to list their free times.
    """
    search: Search[Schedule] = Search("min", limits)
    jobs = _Jobs(instance)
    best = _pass(jobs, jobs.duration, None)
    search.offer(best.makespan, best)
    made = 0
    while made < restarts and best.makespan > jobs.lower_bound and not search.over:
        with search.interruptible():
            target = int(rng.integers(jobs.lower_bound, best.makespan))
            found = _pass(jobs, _priorities(jobs, rng), target)
            best = found if search.offer(found.makespan, found) else best
            made += 1
    stopped = made < restarts and best.makespan > jobs.lower_bound
    outcome = _outcome(instance, best)
    outcome.limit_hit = (search.limit_hit or search.clock.limit_hit) if stopped else None
    outcome.notes["restarts"] = made
    if outcome.solution is not None:
        outcome.trace = tuple(search.trace)
    return outcome


class _Jobs:
    """Sizes, local durations, and a lower bound on the makespan."""

    def __init__(self, instance: SjfBcoInstance):
        rates = instance.rates
        self.instance = instance
        # Servers are sorted by capacity here, so that ties go to the smaller server.
        self.servers = np.argsort(instance.server_gpus, kind="stable").tolist()
        # No server needs more GPUs than all jobs together.
        useful = [min(capacity, sum(rates.gpus)) for capacity in instance.server_gpus]
        self.capacities = np.array(useful)[self.servers]
        refuse_many(
            max(useful) * len(useful),
            MOST_FREE_TIMES,
            f"{max(useful):,} GPUs of a server for {len(useful):,} servers: free times",
        )
        self.gpus = np.array(rates.gpus)
        self.shortest = rates.exec_min
        self.oversize = self.gpus > self.capacities.max()
        # A job with rate 0 on a single server is spread, like one that does not fit.
        local = [None if big else rates.duration(j, 1, 0) for j, big in enumerate(self.oversize)]
        self.oversize |= np.array([d is None for d in local])
        self.local = [0 if d is None else d for d in local]
        self.duration = np.where(self.oversize, self.shortest, self.local).astype(float)
        self.lower_bound = energetic_bound(instance)


def _priorities(jobs: _Jobs, rng: np.random.Generator) -> Floats:
    if rng.random() < 0.5:
        eta = rng.choice(_NOISE)
        return jobs.duration * (1 + rng.uniform(-eta, eta, len(jobs.duration)))
    return jobs.duration * jobs.gpus ** rng.uniform(*_EXPONENT)


def _pass(jobs: _Jobs, priority: Floats, target: int | None) -> Schedule:
    """Place all jobs by descending priority, those larger than every server first."""
    order = np.lexsort((-priority, ~jobs.oversize)).tolist()
    free = _FreeTimes(jobs.capacities)
    start = [0] * len(order)
    placement: list[dict[int, int]] = [{} for _ in order]
    makespan = 0
    for j in order:
        size = int(jobs.gpus[j])
        if jobs.oversize[j]:
            counts = _whole_servers(jobs, free, j)
            duration = jobs.instance.rates.duration(j, len(counts), 1)
            assert duration is not None  # _whole_servers takes a feasible number of servers
            begin = max(int(free.times[jobs.capacities[s] - 1, s]) for s in counts)
        else:
            duration = jobs.local[j]
            s, last = free.earliest(size)
            if target is not None:
                s, last = free.least_waste(size, duration, target) or (s, last)
            counts, begin = {s: size}, int(free.times[last, s])
        for s, count in counts.items():
            free.occupy(s, count, begin, begin + duration)
        start[j] = begin
        placement[j] = {jobs.servers[s]: count for s, count in counts.items()}
        makespan = max(makespan, begin + duration)
    return Schedule(makespan, start, placement)


class _FreeTimes:
    """When the GPUs of each server come free: `times[i, s]` ascending in i, infinite beyond O_s."""

    def __init__(self, capacities: Ints):
        rows = np.arange(capacities.max())[:, None]
        self.times = np.where(rows < capacities, 0.0, math.inf)

    def earliest(self, size: int) -> tuple[int, int]:
        """Return (server, index of the last GPU) of the earliest place for `size` GPUs."""
        return int(self.times[size - 1].argmin()), size - 1

    def least_waste(self, size: int, duration: int, target: int) -> tuple[int, int] | None:
        """Return (server, index of the last GPU) of the tightest place that meets the target."""
        times = self.times
        begin = times[size - 1 :]
        fits = begin + duration <= target
        if not fits.any():
            return None
        finite = np.where(np.isinf(times), 0.0, times)
        sums = np.vstack([np.zeros(times.shape[1]), finite.cumsum(axis=0)])
        with np.errstate(invalid="ignore"):
            waste = np.where(fits, begin * size - (sums[size:] - sums[:-size]), math.inf)
        tightest = np.where(waste == waste.min(), begin, -math.inf)
        i, s = np.unravel_index(int(tightest.argmax()), tightest.shape)
        return int(s), int(i) + size - 1

    def occupy(self, s: int, size: int, begin: int, end: int) -> None:
        """Set the `size` GPUs of server s that are free last by `begin` to free time `end`."""
        column = self.times[:, s]
        last = int(np.searchsorted(column, begin, side="right"))
        column[last - size : last] = end
        column.sort()


def _whole_servers(jobs: _Jobs, free: _FreeTimes, j: int) -> dict[int, int]:
    """Return GPU counts on the servers that are entirely free first, ties by capacity."""
    whole = free.times[jobs.capacities - 1, np.arange(len(jobs.capacities))]
    by_release = np.lexsort((-jobs.capacities, whole)).tolist()
    by_capacity = np.lexsort((whole, -jobs.capacities)).tolist()
    for servers in (by_release, by_capacity):
        counts = _filled(servers, jobs.capacities, int(jobs.gpus[j]))
        if len(counts) > 1 and jobs.instance.rates.duration(j, len(counts), 1) is not None:
            return counts
    # Some number of servers is feasible, or the instance would have been rejected.
    rates = jobs.instance.rates
    r = next(r for r in rates.server_counts(j) if r > 1 and rates.rate(j, r, 1) > 0)
    largest = by_capacity[:r]
    counts = dict.fromkeys(largest, 1)
    left = int(jobs.gpus[j]) - r
    for s in largest:
        more = min(left, int(jobs.capacities[s]) - 1)
        counts[s] += more
        left -= more
    return counts


def _filled(servers: list[int], capacities: Ints, size: int) -> dict[int, int]:
    """Return GPU counts that fill servers in order until the job has its GPUs."""
    counts: dict[int, int] = {}
    for s in servers:
        if size == 0:
            break
        counts[s] = min(size, int(capacities[s]))
        size -= counts[s]
    return counts


def _outcome(instance: SjfBcoInstance, schedule: Schedule) -> MethodOutcome:
    horizon = instance.horizon_slots
    if schedule.makespan > horizon:
        reason = f"no schedule with makespan <= horizon_slots ({horizon}); raise horizon_slots"
        return MethodOutcome(notes={"no_schedule": reason, "makespan": schedule.makespan})
    return MethodOutcome(schedule.solution(), schedule.makespan)
