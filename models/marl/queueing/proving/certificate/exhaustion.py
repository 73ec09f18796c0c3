r"""Proof that in no plan the jobs' last slots come to less than some number: all plans, by slot.

A *state* of a slot is the iterations that jobs have left and, without migration, where the running
ones lie. From it any jobs that are there run in one of the ways of `slot_fillings`; with migration
only in those in which no other way lets each job do as much, as fewer iterations left are never
worse. The states of a slot are looked at together, each at the least number of slots that it has
paid, for the last slots of jobs that are finished. It is left out if that and a bound are too much:

- job j needs :math:`k_j` more slots alone, so it ends no earlier than :math:`\max(t, r_j) + k_j`,
  and no later than the last slot there is;
- on one machine with all GPUs (or CPUs), `shortest_first` ends the i-th job, for every i, as early
  as any schedule does; job j is :math:`k_j n_j g_j` GPU-slots of work there. Of the i-th of these
  ends and of those above, each in ascending order, the larger counts.

All numbers are whole; those of arrays are below 2^53.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ...instance import QueueingInstance
from .slot_fillings import Filling, Rates, SlotFillings, TooMuchError

#: States that a check may look at, some tenths of a millisecond each, and steps of filling slots, a
#: few microseconds each; and jobs that it may have. Tuned: `benchmarks/constants.py`.
MOST_STATES, MOST_STEPS, MOST_JOBS = 200_000, 4_000_000, 60

#: Ways that are compared with another one in a step. Tuned: `benchmarks/constants.py`.
COMPARED = 100

#: Iterations left of every job, and where the jobs are that have to stay.
State = tuple[tuple[int, ...], Filling]


def none_below(instance: QueueingInstance, slots: int) -> bool:
    """Return True if it is proved that in no plan the last slots come to less than this.

    Raises
    ------
    TooMuchError
        If it cannot be told.
    """
    if not instance.additive or len(instance.jobs) > MOST_JOBS:
        raise TooMuchError
    return not _Plans(instance, slots).are_there()


class _Plans:
    """The plans whose last slots come to less than a number."""

    def __init__(self, instance: QueueingInstance, below: int):
        self._instance, self._below = instance, below
        self._fillings = SlotFillings(instance, MOST_STEPS)
        self._states = MOST_STATES
        self._arrival: Ints = np.array(instance.first_slots, dtype=np.int64)
        self._alone: Ints = np.array(
            [
                min(job.iterations, max(1, int(instance.slot_s // (job.base_iteration_s + comm_s))))
                for job, comm_s in zip(instance.jobs, instance.least_comm_s, strict=True)
            ],
            dtype=np.int64,
        )
        self._gpus: list[int] = [job.num_tasks * job.gpus_per_task for job in instance.jobs]
        self._cpus: list[int] = [job.num_tasks * job.cpus_per_task for job in instance.jobs]
        self._ways: dict[tuple[tuple[int, ...], Filling], tuple[Ints, list[Filling]]] = {}
        #: By slot, what each state has paid at least.
        self._waiting: dict[int, dict[State, int]] = {}

    def are_there(self) -> bool:
        """Return True if there is one.

        Raises
        ------
        TooMuchError
        """
        begin = tuple(job.iterations for job in self._instance.jobs)
        self._waiting[0] = {(begin, self._fillings.empty()): 0}
        while self._waiting:
            now = min(self._waiting)
            for (left, staying), paid in self._waiting.pop(now).items():
                if paid + self.bound(now, left) >= self._below:
                    continue
                if not any(left):
                    return True
                self._states -= 1
                if self._states < 0:
                    raise TooMuchError
                self._follow(now, left, staying, paid)
        return False

    def bound(self, now: int, left: Sequence[int]) -> int:
        """Return a bound on the sum of the last slots of jobs that are not finished."""
        jobs = [j for j, x in enumerate(left) if x]
        needs = {j: -(-left[j] // int(self._alone[j])) for j in jobs}
        begins = {j: max(now, self._instance.first_slots[j]) for j in jobs}
        best = sum(begins[j] + needs[j] for j in jobs)
        instance = self._instance
        for speed, each in (
            (instance.total_gpus, self._gpus),
            (instance.total_cpus, self._cpus),
        ):
            busy = [j for j in jobs if each[j]]
            alone = sorted(begins[j] + needs[j] for j in busy)
            together = shortest_first([(begins[j], needs[j] * each[j]) for j in busy], speed)
            more = sum(max(0, b - a) for a, b in zip(alone, together, strict=True))
            best = max(best, sum(begins[j] + needs[j] for j in jobs) + more)
        return best

    def _follow(self, now: int, left: tuple[int, ...], staying: Filling, paid: int) -> None:
        """Add the states that follow one, as far as a plan may come of them."""
        num_slots = self._instance.num_slots
        there = tuple(j for j, x in enumerate(left) if x and self._arrival[j] <= now)
        if not there:
            then = min(int(self._arrival[j]) for j, x in enumerate(left) if x)
            self._add(then, left, staying, paid)
            return
        if now >= num_slots:
            return
        rates, fillings = self._ways_of(there, staying)
        after = np.tile(np.array(left, dtype=np.int64), (len(rates), 1))
        after[:, there] = np.maximum(0, after[:, there] - rates)
        ended = (np.array(left) > 0) & (after == 0)
        ends = np.maximum(now + 1, self._arrival) - (-after // self._alone)
        ends[after == 0] = 0
        paid_then = paid + (now + 1) * ended.sum(axis=1)
        may = (paid_then + ends.sum(axis=1) < self._below) & (ends <= num_slots).all(axis=1)
        for k in np.flatnonzero(may).tolist():
            stay = staying
            if not self._instance.migration:
                stay = self._fillings.without(np.flatnonzero(ended[k]).tolist(), fillings[k])
            self._add(now + 1, tuple(after[k].tolist()), stay, int(paid_then[k]))

    def _add(self, slot: int, left: tuple[int, ...], staying: Filling, paid: int) -> None:
        states = self._waiting.setdefault(slot, {})
        states[left, staying] = min(paid, states.get((left, staying), paid))

    def _ways_of(self, there: tuple[int, ...], staying: Filling) -> tuple[Ints, list[Filling]]:
        """Return the ways to run jobs in a slot: their iterations, a row each, and where they are.

        With migration, which is forgotten, only those that are worth it.
        """
        if (there, staying) not in self._ways:
            ways = self._fillings.of(there, staying)
            if self._instance.migration:
                self._ways[there, staying] = self._largest({rates for rates, _ in ways}), []
            else:
                pairs = [*dict.fromkeys(ways)]
                rates = np.array([x for x, _ in pairs], dtype=np.int64)
                self._ways[there, staying] = rates, [filling for _, filling in pairs]
        return self._ways[there, staying]

    def _largest(self, ways: Collection[Rates]) -> Ints:
        """Return the iterations to which no others are at least equal for every job."""
        rows = np.array(sorted(ways), dtype=np.int64)
        kept = rows[:0]
        for k in np.argsort(-rows.sum(axis=1), kind="stable").tolist():
            self._fillings.spend(1 + len(kept) // COMPARED)
            if not (kept >= rows[k]).all(axis=1).any():
                kept = np.concatenate([kept, rows[k : k + 1]])
        return kept


def shortest_first(work: Iterable[tuple[int, int]], speed: int) -> list[int]:
    """Return the last slots of jobs, shortest remaining work first, in ascending order.

    Parameters
    ----------
    work : iterable of (int, int)
        First slot and work of each job.
    speed : int
        Work of a slot.

    Notes
    -----
    Jobs come at the beginnings of slots only, so between two of these the waiting ones are worked
    off in one order.
    """
    coming = sorted(work, reverse=True)
    now = 0
    waiting: list[int] = []
    ends: list[int] = []
    while coming or waiting:
        if not waiting:
            now = max(now, coming[-1][0])
        while coming and coming[-1][0] <= now:
            insort(waiting, coming.pop()[1])
        total = 0
        left: list[int] = []
        for amount in waiting:
            total += amount
            over = total - speed * (coming[-1][0] - now) if coming else 0
            if over <= 0:
                ends.append(now - (-total // speed))
            else:
                left.append(min(over, amount))
        waiting = left
        now = coming[-1][0] if coming else now
    return ends
