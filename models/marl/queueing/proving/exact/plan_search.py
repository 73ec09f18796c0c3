r"""All plans whose jobs end in fewer slots, in sum, than some number: there are none, or one.

The mean completion time is :math:`\Delta` times the sum of the jobs' last slots, plus a constant,
so plans are compared by this whole number. A *state* is a slot, the iterations that every job has
left and, without migration, where the running jobs lie. Its successors run any jobs that are there
in one of the ways of `slot_ways`. Each state has a bound on the sum, from two facts about the jobs
that are not finished:

- job j needs :math:`k_j` more slots alone, so it ends no earlier than :math:`\max(t, r_j) + k_j`;
- on one machine with all GPUs (or CPUs) shortest remaining work first ends the i-th job, for every
  i, as early as any schedule does; job j is :math:`k_j n_j g_j` GPU-slots of work there.

The i-th job to end does so no earlier than the i-th of either list, each in ascending order, and
the larger of the two counts. A state is left out if its bound is not below the number, or if
it was met before and as many slots had been paid at most.

Python's integers and numpy's of 64 bits: iterations are below 2^50 and slots below 2^20, and there
are few jobs.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ...instance import (
    QueueingInstance,
    QueueingSolution,
    Running,
)
from .slot_ways import (
    Placement,
    SlotWays,
    Tasks,
    TooManyStatesError,
    alike,
)

#: States that a search may visit, and steps of filling slots, a fifth of a millisecond and some
#: microseconds each; jobs and slots in a row that it may have. Tuned: `benchmarks/constants.py`.
MOST_STATES, MOST_STEPS, MOST_JOBS, MOST_DEPTH = 100_000, 2_000_000, 60, 200


class PlanSearch:
    """A search for plans, each with a largest sum of last slots.

    Parameters
    ----------
    instance : QueueingInstance
    stopped : callable
        Returns True if the search has to stop.

    Attributes
    ----------
    least : int or None
        After a run that found nothing: the sum is at least this in any plan, and None if there is
        no plan at all.

    Raises
    ------
    TooManyStatesError
        If the instance is none for this search.
    """

    least: int | None

    def __init__(
        self, instance: QueueingInstance, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        if not instance.additive or len(instance.jobs) > MOST_JOBS:
            raise TooManyStatesError
        self._instance, self._stopped = instance, stopped
        self._ways = SlotWays(instance, MOST_STEPS, stopped)
        self._first: Ints = np.array(instance.first_slots, dtype=np.int64)
        self._fastest: Ints = _rates_alone(instance)
        self._demand = [
            (speed, each)
            for speed, each in (
                (instance.total_gpus, [j.num_tasks * j.gpus_per_task for j in instance.jobs]),
                (instance.total_cpus, [j.num_tasks * j.cpus_per_task for j in instance.jobs]),
            )
            if speed and any(each)
        ]
        self._begin: Ints = np.array([job.iterations for job in instance.jobs], dtype=np.int64)
        self._met: dict[tuple[object, ...], int] = {}
        self._path: list[tuple[int, Placement]] = []
        self._states = self._below = 0
        self.least = None

    def bound(self) -> int:
        """Return a bound on the sum in any plan."""
        return self._bound(0, self._begin)

    def run(self, below: int) -> QueueingSolution | None:
        """Return a plan with a sum below a number, None if there is none.

        Raises
        ------
        TooManyStatesError
        """
        self._met.clear()
        self._path.clear()
        self._states, self._below, self.least = MOST_STATES, below, None
        if self._too_late(self.bound()):
            return None
        return self._plan() if self._from(0, self._begin, (), 0) else None

    def _from(self, now: int, left: Ints, homes: Placement, paid: int) -> bool:
        """Try all that can follow a state; return True if a plan was found."""
        self._states -= 1
        if self._states < 0 or len(self._path) > MOST_DEPTH or self._stopped():
            raise TooManyStatesError
        open_ = left > 0
        if not open_.any():
            return True
        there = tuple(np.flatnonzero(open_ & (self._first <= now)).tolist())
        if not there:
            return self._from(int(self._first[open_].min()), left, homes, paid)
        if now >= self._instance.num_slots:
            return False
        ways = self._ways.of(there, homes)
        after = np.repeat(left[None, :], len(ways.rates), axis=0)
        after[:, there] = np.maximum(0, after[:, there] - ways.rates)
        paid_then = paid + (now + 1) * (open_ & (after == 0)).sum(axis=1)
        ends = np.maximum(now + 1, self._first) - (-after // self._fastest)
        ends[after == 0] = 0
        bounds = paid_then + ends.sum(axis=1)
        bounds[(ends > self._instance.num_slots).any(axis=1)] = -1
        for k in np.argsort(bounds, kind="stable").tolist():
            if bounds[k] < 0:
                continue
            if self._too_late(int(bounds[k])):
                break
            then, cost = after[k], int(paid_then[k])
            moving = self._instance.migration
            stay = () if moving else tuple(x for x in ways.placements[k] if then[x[0]])
            key = (now + 1, then.tobytes(), alike(self._instance, stay) if stay else ())
            if self._met.get(key, cost + 1) <= cost:
                continue
            self._met[key] = cost
            if self._too_late(cost + self._bound(now + 1, then)):
                continue
            self._path.append((now, ways.placements[k]))
            if self._from(now + 1, then, stay, cost):
                return True
            self._path.pop()
        return False

    def _too_late(self, bound: int) -> bool:
        """Return True if a bound is too large, and remember the least such one."""
        if bound < self._below:
            return False
        self.least = bound if self.least is None else min(self.least, bound)
        return True

    def _bound(self, now: int, left: Ints) -> int:
        """Return a bound on the sum of the last slots of jobs that are not finished."""
        jobs = np.flatnonzero(left > 0).tolist()
        needs = (-(-left // self._fastest)).tolist()
        begins = np.maximum(now, self._first).tolist()
        best = sum(begins[j] + needs[j] for j in jobs)
        for speed, each in self._demand:
            busy = [j for j in jobs if each[j]]
            alone = sorted(begins[j] + needs[j] for j in busy)
            together = one_machine([(begins[j], needs[j] * each[j]) for j in busy], speed)
            total = sum(begins[j] + needs[j] for j in jobs if not each[j])
            total += sum(max(a, b) for a, b in zip(alone, together, strict=True))
            best = max(best, total)
        return best

    def _plan(self) -> QueueingSolution:
        slots: list[tuple[Running, ...]] = []
        for slot, placement in self._path:
            slots += [()] * (slot - len(slots))
            slots.append(tuple(self._running(j, tasks) for j, tasks in placement))
        return QueueingSolution(slots=tuple(slots))

    def _running(self, j: int, tasks: Tasks) -> Running:
        gpus = tuple(gpus for _, _, gpus in tasks) if self._instance.boards else ()
        return Running(job=j, tasks=tuple((s, n) for s, n, _ in tasks), gpus=gpus)


def _rates_alone(instance: QueueingInstance) -> Ints:
    """Return iterations of each job in a slot that it has for itself: at least 1, at most all."""
    rates = []
    for job, comm_s in zip(instance.jobs, instance.least_comm_s, strict=True):
        alone = int(instance.slot_s // (job.base_iteration_s + comm_s))
        rates.append(min(job.iterations, max(1, alone)))
    return np.array(rates, dtype=np.int64)


def one_machine(work: Sequence[tuple[int, int]], speed: int) -> list[int]:
    """Return the last slots of jobs, shortest remaining work first, in ascending order.

    Parameters
    ----------
    work : sequence of (int, int)
        First slot and work of each job, both whole and the work positive.
    speed : int
        Work of a slot.
    """
    waiting = sorted(work, reverse=True)
    # Times in units of a slot over the speed, which are whole.
    now = 0
    remaining: list[int] = []
    ends = []
    while waiting or remaining:
        if not remaining:
            now = max(now, waiting[-1][0] * speed)
        while waiting and waiting[-1][0] * speed <= now:
            heapq.heappush(remaining, waiting.pop()[1])
        until = waiting[-1][0] * speed if waiting else now + remaining[0]
        shortest = heapq.heappop(remaining)
        done = min(shortest, until - now)
        now += done
        if done < shortest:
            heapq.heappush(remaining, shortest - done)
        else:
            ends.append(-(-now // speed))
    return ends
