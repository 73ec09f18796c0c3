r"""Schedules of (F) from an order: each job in turn where it ends first, in any configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ..instance import ASrptInstance, ASrptSolution
from ..relaxations import pool_of
from ..subproblems.configurations import Configurations, Row


@dataclass(frozen=True, eq=False)
class Schedule:
    """A schedule of (F).

    Attributes
    ----------
    value : int
        Weighted sum of completions, times the weight scale.
    starts : array of int, shape (jobs,)
        Ticks.
    rows : list of tuple of int
        GPUs of every job on every server.
    """

    value: int
    starts: Ints
    rows: list[Row]

    def solution(self, configurations: Configurations) -> ASrptSolution:
        """Return the schedule with the fastest mapping of every job."""
        return configurations.solution(self.starts.tolist(), self.rows)


class _Usage:
    """GPUs in use on every server, between the ticks at which they change.

    Attributes
    ----------
    times : array of int, shape (intervals,)
        First ticks of the intervals; the last one has no end, and nothing is in use in it.
    used : array of int, shape (servers, intervals)
    """

    def __init__(self, capacity: Ints):
        self.capacity = capacity
        self.times: Ints = np.zeros(1, dtype=np.int64)
        self.used: Ints = np.zeros((len(capacity), 1), dtype=np.int64)

    def first_start(self, gpus: Ints, release: int, ticks: int) -> int:
        """Return the first tick from which so many GPUs are free for so many ticks."""
        on = np.flatnonzero(gpus)
        fits = np.all(self.capacity[on, None] - self.used[on] >= gpus[on, None], axis=0)
        blocked = np.flatnonzero(~fits)
        begins = np.concatenate([[release], np.maximum(self.times[blocked + 1], release)])
        ends = np.concatenate([self.times[blocked], [np.iinfo(np.int64).max]])
        return int(begins[np.flatnonzero(ends - begins >= ticks)[0]])

    def take(self, gpus: Ints, start: int, end: int) -> None:
        """Take GPUs from a tick until another."""
        first, last = self._interval_from(start), self._interval_from(end)
        self.used[:, first:last] += gpus[:, None]

    def _interval_from(self, tick: int) -> int:
        """Return the interval that begins at a tick, after parting one if need be."""
        k = int(np.searchsorted(self.times, tick))
        if k == len(self.times) or self.times[k] != tick:
            self.times = np.insert(self.times, k, tick)
            self.used = np.insert(self.used, k, self.used[:, k - 1], axis=1)
        return k


def serial_schedule(configurations: Configurations, order: Sequence[int]) -> Schedule:
    """Place jobs in this order, each at its earliest possible completion.

    Of several configurations that end a job at the same time, it gets the one that takes its GPUs
    for the shortest time.
    """
    instance = configurations.instance
    release, weights = instance.release_ticks, instance.whole_weights
    usage = _Usage(np.array(instance.gpus_per_server, dtype=np.int64))
    starts = np.zeros(len(order), dtype=np.int64)
    rows: list[Row] = [()] * len(order)
    value = 0
    for j in order:
        best: tuple[int, int, Row] | None = None
        r = int(release[j])
        for c in configurations.of(j):
            if best is not None and r + c.ticks > best[0]:
                break
            start = usage.first_start(np.array(c.gpus), r, c.ticks)
            if best is None or (start + c.ticks, c.ticks) < best[:2]:
                best = (start + c.ticks, c.ticks, c.gpus)
        assert best is not None
        end, ticks, row = best
        usage.take(np.array(row), end - ticks, end)
        starts[j], rows[j] = end - ticks, row
        value += int(weights[j]) * end
    return Schedule(value, starts, rows)


def first_schedule(configurations: Configurations) -> Schedule:
    """Return the best of a few serial schedules."""
    pool = pool_of(configurations.instance)
    share = pool.work / pool.total_gpus
    keys = (
        pool.release + pool.duration,
        pool.release + share / pool.weight,
        pool.release + pool.duration + share,
        share / pool.weight,
    )
    return min(
        (serial_schedule(configurations, np.argsort(key, kind="stable").tolist()) for key in keys),
        key=lambda schedule: schedule.value,
    )


def latest_starts(instance: ASrptInstance, value: int) -> Ints:
    r"""Return by when each job starts in any schedule of at most this value.

    :math:`C_j \le L_j = r_j + d_j + \lfloor (UB - B_0) / w_j \rfloor` with shortest durations.

    Parameters
    ----------
    instance : ASrptInstance
    value : int
        UB, times the weight scale.
    """
    weights = instance.whole_weights
    spare = value - int((weights * (instance.release_ticks + instance.min_ticks)).sum())
    latest: Ints = instance.release_ticks + spare // weights
    return latest
