r"""The schedule of Lemma 1: optimal for jobs that all run at their slowest, and run that way.

A_1 is the pool in which job j takes :math:`d_j^{max}`. Its optimal starts are kept in the cluster,
where any free GPUs will do: no mapping takes longer. The replicas of a job go to as many servers as
possible, as in A_1.
"""

from __future__ import annotations

import math

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import ASrptInstance, ASrptSolution, ScheduledJob

#: Jobs of which all orders are tried. Tuned: `benchmarks/constants.py`.
MOST_JOBS = 8


@method(kind="baseline", reference="Lemma 1")
def scattered(instance: ASrptInstance, limits: Limits) -> MethodOutcome:
    r"""Lemma 1: optimal for jobs that run at their slowest, which they then do.

    Return the optimal schedule of A_1, at most :math:`\rho_\Delta\,OPT` (Lemma 1).

    Some list schedule is optimal, so all orders of the jobs are tried.

    Raises
    ------
    ModelRefused
        If there are more than `MOST_JOBS` jobs, or some hold blocks of GPUs of one server.
    """
    types = [instance.job_types[job.job_type] for job in instance.jobs]
    largest, field = max((max(a.block_of_stage), bool(a.tp_blocks)) for a in types)
    if largest > 1:
        name = "tp_blocks" if field else "tp_block"
        raise ModelRefused(f"{name}: {largest}, expected 1, so that any free GPUs will do")
    if len(instance.jobs) > MOST_JOBS:
        raise ModelRefused(f"{len(instance.jobs)} jobs, expected at most {MOST_JOBS}")
    clock = Clock(limits)
    search = _Orders(instance, clock)
    search.extend(0, [])
    if not search.best_starts:
        return MethodOutcome(limit_hit="time_s")
    return MethodOutcome(
        solution=_spread(instance, search.best_starts),
        limit_hit="time_s" if clock.expired else None,
    )


class _Orders:
    """Depth-first search over the orders of a list schedule, bounded by the releases."""

    def __init__(self, instance: ASrptInstance, clock: Clock):
        self.clock = clock
        self.release = instance.release_ticks.tolist()
        self.duration = instance.max_ticks.tolist()
        self.gpus = instance.gpus.tolist()
        self.weight = instance.whole_weights.tolist()
        self.total = instance.total_gpus
        self.best: float = math.inf
        self.best_starts: dict[int, int] = {}

    def extend(self, cost: int, placed: list[tuple[int, int]]) -> None:
        """Append every job that is left to a partial order; `placed` has jobs and starts."""
        left = set(range(len(self.release))) - {j for j, _ in placed}
        soonest = sum(self.weight[j] * (self.release[j] + self.duration[j]) for j in left)
        if cost + soonest >= self.best or self.clock.expired:
            return
        if not left:
            self.best, self.best_starts = cost, dict(placed)
            return
        for j in sorted(left, key=lambda j: (self.duration[j], j)):
            start = self._earliest(j, placed)
            end = start + self.duration[j]
            self.extend(cost + self.weight[j] * end, [*placed, (j, start)])

    def _earliest(self, j: int, placed: list[tuple[int, int]]) -> int:
        ends = [s + self.duration[i] for i, s in placed]
        for start in sorted({self.release[j], *(e for e in ends if e > self.release[j])}):
            times = {start, *(s for _, s in placed if start < s < start + self.duration[j])}
            if all(self._used(t, placed) + self.gpus[j] <= self.total for t in times):
                return start
        raise AssertionError("after the last completion every job fits")

    def _used(self, t: int, placed: list[tuple[int, int]]) -> int:
        return sum(self.gpus[i] for i, s in placed if s <= t < s + self.duration[i])


def _spread(instance: ASrptInstance, starts: dict[int, int]) -> ASrptSolution:
    """Return the schedule with these starts in which jobs are spread over the servers."""
    free = list(instance.gpus_per_server)
    running: list[tuple[int, dict[int, int]]] = []
    scheduled = []
    for j, start in sorted(starts.items(), key=lambda item: (item[1], item[0])):
        for end, held in running:
            for m, count in held.items() if end <= start else ():
                free[m] += count
        running = [entry for entry in running if entry[0] > start]
        job_type = instance.job_types[instance.jobs[j].job_type]
        used: dict[int, int] = {}
        placement = []
        for replicas in job_type.replicas:
            row: dict[int, int] = {}
            for _ in range(replicas):
                m = min(
                    (m for m in range(len(free)) if free[m]),
                    key=lambda m: (used.get(m, 0), -free[m], m),
                )
                free[m] -= 1
                used[m] = used.get(m, 0) + 1
                row[m] = row.get(m, 0) + 1
            placement.append(tuple(row.items()))
        units = instance.times[instance.jobs[j].job_type].units(placement)
        running.append((start + instance.ticks(j, units), used))
        scheduled.append(
            ScheduledJob(
                job=j,
                start_microtick=start * instance.total_gpus,
                placement=tuple(placement),
            )
        )
    return ASrptSolution(jobs=tuple(scheduled))
