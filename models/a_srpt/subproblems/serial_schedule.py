r"""Schedules of (F) from an order: each job in turn where it ends first, in any configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Bools, Ints

from ..instance import ASrptInstance, ASrptSolution
from ..relaxations import pool_of
from .configurations import Configurations, Row


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


def serial_schedule(configurations: Configurations, order: Sequence[int]) -> Schedule:
    """Place jobs in this order, each at its earliest possible completion.

    Of several configurations that end a job at the same time, it gets the one that takes its GPUs
    for the shortest time.
    """
    instance = configurations.instance
    capacity = np.array(instance.gpus_per_server, dtype=np.int64)
    release, weights = instance.release_ticks, instance.whole_weights
    longest = int(instance.max_ticks.max())
    used = np.zeros((len(capacity), int(release.max()) + 2 * longest + 2), dtype=np.int64)
    starts = np.zeros(len(order), dtype=np.int64)
    rows: list[Row] = [()] * len(order)
    value = 0
    for j in order:
        free = capacity[:, None] - used
        best: tuple[int, int, Row] | None = None
        r = int(release[j])
        for c in configurations.of(j):
            if best is not None and r + c.ticks > best[0]:
                break
            gpus = np.array(c.gpus)
            on = np.flatnonzero(gpus)
            fits: Bools = np.all(free[on] >= gpus[on, None], axis=0)
            start = _first_run(fits, r, c.ticks)
            if best is None or (start + c.ticks, c.ticks) < best[:2]:
                best = (start + c.ticks, c.ticks, c.gpus)
        assert best is not None
        end, ticks, row = best
        while end + longest + 1 >= used.shape[1]:
            used = np.pad(used, ((0, 0), (0, used.shape[1])))
        used[:, end - ticks : end] += np.array(row)[:, None]
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


def _first_run(fits: Bools, release: int, ticks: int) -> int:
    """Return the first tick from which `ticks` ticks fit; all do after the end of the table."""
    blocked = np.flatnonzero(~fits[release:])
    begins = np.concatenate([[-1], blocked]) + 1
    ends = np.concatenate([blocked, [np.iinfo(np.int64).max]])
    return release + int(begins[np.flatnonzero(ends - begins >= ticks)[0]])
