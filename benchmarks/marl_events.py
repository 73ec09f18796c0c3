"""The queue in continuous time, from event to event (reconstructed).

At every arrival or completion the waiting jobs are tried, completions first, then arrivals by
number; the jobs that share a changed server get a new iteration time. Slots do not matter, and
jobs end between them; nobody has to end by the last one.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

from gadgetopt.models.marl.queueing.instance import QueueingInstance
from gadgetopt.models.marl.queueing.subproblems.policy_queue import PolicyQueue
from gadgetopt.models.marl.queueing.subproblems.queue import JobQueue
from gadgetopt.search.clock import Clock


class TimedQueue(PolicyQueue):
    """A queue that a policy serves at any time; the slot that it sees is the one that time is in.

    Parameters are those of `PolicyQueue`.
    """

    def see_time(self, now_s: float) -> None:
        """Take note of the time."""
        self._at_work.slot = int(now_s // self._at_work.slot_s)


@dataclass(frozen=True)
class Run:
    """One job in continuous time, in seconds from 0.

    Attributes
    ----------
    start_s : float
        Of its first task.
    end_s, completion_s : float
        The latter is counted from its arrival.
    """

    start_s: float
    end_s: float
    completion_s: float


def simulate(
    instance: QueueingInstance, queue: JobQueue, clock: Clock | None = None
) -> list[Run] | None:
    """Return when each job runs; None if the time is up before all have ended."""
    clock = clock or Clock()
    simulation = _Simulation(instance, queue)
    while simulation.goes_on:
        if clock.expired:
            return None
        simulation.step()
    return [simulation.runs[j] for j in range(len(instance.jobs))]


class _Simulation:
    """The state between two events."""

    def __init__(self, instance: QueueingInstance, queue: JobQueue):
        self.queue = queue
        self.arrival_s = [float(job.arrival_s) for job in instance.jobs]
        number = len(self.arrival_s)
        #: Jobs to come, the next one last.
        self.to_come = sorted(range(number), key=lambda j: (-self.arrival_s[j], -j))
        self.gpus = [job.num_tasks * job.gpus_per_task for job in instance.jobs]
        self.now_s = 0.0
        self.iteration_s = [0.0] * number
        self.since_s = [0.0] * number
        self.start_s: dict[int, float] = {}
        self.runs: dict[int, Run] = {}
        #: Completions as they looked at some time; the latest of each job counts.
        self.ends: list[tuple[float, int, int]] = []
        self.version = [0] * number

    @property
    def goes_on(self) -> bool:
        """True if a job is still to come or runs."""
        return bool(self.to_come or self.queue.running)

    def step(self) -> None:
        """Go to the next time at which jobs end or arrive, and let the queue start what it can."""
        queue = self.queue
        self._drop_old_ends()
        next_end = self.ends[0][0] if self.ends else math.inf
        next_arrival = self.arrival_s[self.to_come[-1]] if self.to_come else math.inf
        self.now_s = max(self.now_s, min(next_end, next_arrival))
        changed: set[int] = set()
        while self.ends and self.ends[0][0] <= self.now_s:
            _, j, _ = heapq.heappop(self.ends)
            self._end(j, changed)
            self._drop_old_ends()
        while self.to_come and self.arrival_s[self.to_come[-1]] <= self.now_s:
            queue.waiting.add(self.to_come.pop())
        if queue.watches_service and queue.waiting:
            for j in queue.running:
                self._advance(j)
        if isinstance(queue, TimedQueue):
            queue.see_time(self.now_s)
        were_running = set(queue.running)
        changed |= queue.admit()
        for j in were_running - queue.running:
            self._advance(j)
            self.version[j] += 1
        for j in queue.running - were_running:
            self.since_s[j] = self.now_s
            self.start_s.setdefault(j, self.now_s)
        for j in {j for s in changed for j in queue.occupancy.jobs_on[s]}:
            self._retime(j)

    def _end(self, j: int, changed: set[int]) -> None:
        changed.update(self.queue.finish(j))
        self.queue.left[j] = 0.0
        self.version[j] += 1
        self.runs[j] = Run(self.start_s[j], self.now_s, self.now_s - self.arrival_s[j])

    def _advance(self, j: int) -> None:
        """Count what a job has done since it was last looked at."""
        passed_s = self.now_s - self.since_s[j]
        self.since_s[j] = self.now_s
        if passed_s and self.iteration_s[j]:
            self.queue.left[j] = max(0.0, self.queue.left[j] - passed_s / self.iteration_s[j])
            self.queue.attained_gpu_s[j] += passed_s * self.gpus[j]

    def _retime(self, j: int) -> None:
        """Give a running job the iteration time of its neighbours now."""
        self._advance(j)
        self.iteration_s[j] = self.queue.occupancy.iteration_s(j)
        self.version[j] += 1
        end_s = self.now_s + self.queue.left[j] * self.iteration_s[j]
        heapq.heappush(self.ends, (end_s, j, self.version[j]))

    def _drop_old_ends(self) -> None:
        while self.ends and self.ends[0][2] != self.version[self.ends[0][1]]:
            heapq.heappop(self.ends)
