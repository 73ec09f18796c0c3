"""Which waiting jobs start, and where: a placement rule that serves a queue in an order."""

from __future__ import annotations

import heapq
import operator
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...subproblems.occupancy import Occupancy
from ...subproblems.orders import LAS_THRESHOLD_GPU_S, Order, order_of
from ...subproblems.placers import placer_of
from ...subproblems.rules import Placer, Rule
from ..instance import QueueingInstance


class JobQueue:
    """Jobs that wait and jobs that run.

    First come, first served is strict: where the first job of the queue finds no room, none after
    it starts. The other orders pass over such jobs. With `las`, jobs of the second queue give way
    to those of the first that find no room else, if the instance lets jobs move.

    Parameters
    ----------
    instance : QueueingInstance
    rule, order : str
    rng : numpy.random.Generator
    priority : sequence of float, optional
        Takes the place of the order; the job with the least value first, and jobs without room are
        passed over.
    make : callable, optional
        Returns what places the jobs on an occupancy, in the place of the rule.

    Attributes
    ----------
    occupancy : Occupancy
        Where the running jobs are.
    waiting, running : set of int
    left : list of float
        Iterations that each job has left.
    attained_gpu_s : list of float
        GPU-seconds that each job has had.
    """

    def __init__(
        self,
        instance: QueueingInstance,
        rule: Rule,
        order: Order,
        rng: np.random.Generator,
        priority: Sequence[float] | None = None,
        make: Callable[[Occupancy], Placer] | None = None,
    ):
        self.occupancy: Occupancy = Occupancy(instance)
        self.waiting: set[int] = set()
        self.running: set[int] = set()
        self.left: list[float] = [float(job.iterations) for job in instance.jobs]
        self.attained_gpu_s: list[float] = [0.0] * len(instance.jobs)
        self._strict = order == "fifo" and priority is None
        #: True if the order depends on the service that jobs have had so far.
        self.watches_service: bool = order == "las" and priority is None
        self._gives_way = self.watches_service and instance.migration
        self._placer = make(self.occupancy) if make else placer_of(rule, self.occupancy, rng)
        self._key: Callable[[int], tuple[float, ...]] = order_of(
            instance,
            order,
            left_s=lambda j: self.left[j] * self.occupancy.base_s[j],
            attained_gpu_s=lambda j: self.attained_gpu_s[j],
        )
        if priority is not None:
            self._key = lambda j: (priority[j],)
        self._line: list[tuple[tuple[float, ...], int]] = []  # a strict queue's heap
        self._in_line: set[int] = set()

    def finish(self, j: int) -> list[int]:
        """Take a finished job away; return the servers that it leaves."""
        servers = list(self.occupancy.servers_of[j])
        self._placer.remove(j)
        self.running.discard(j)
        return servers

    def admit(self) -> set[int]:
        """Start the waiting jobs that find room; return the servers on which anything changed."""
        changed: set[int] = set()
        no_room: set[tuple[int, int, int]] = set()
        for j in self._first_few() if self._strict else sorted(self.waiting, key=self._key):
            job = self.occupancy.instance.jobs[j]
            need = (job.num_tasks, job.gpus_per_task, job.cpus_per_task)
            # Whether all tasks of a job find room depends on what they need alone.
            if any(all(map(operator.le, other, need)) for other in no_room):
                continue
            placed = self._placer.place(j)
            if not placed and self._gives_way and self._make_room(j, changed):
                placed = True
                no_room.clear()
            if placed:
                self.waiting.remove(j)
                self.running.add(j)
                changed.update(self.occupancy.servers_of[j])
            elif self._strict:
                break
            else:
                no_room.add(need)
        return changed

    def _first_few(self) -> Iterator[int]:
        """Yield the waiting jobs in order, each the first until it does not wait any more."""
        for j in self.waiting - self._in_line:
            heapq.heappush(self._line, (self._key(j), j))
        self._in_line |= self.waiting
        while self._line:
            j = self._line[0][1]
            if j in self.waiting:
                yield j
            if j not in self.waiting:
                self._in_line.remove(heapq.heappop(self._line)[1])

    def _make_room(self, j: int, changed: set[int]) -> bool:
        """Place a job of the first queue, and let as few jobs of the second as it needs wait."""
        if self.attained_gpu_s[j] >= LAS_THRESHOLD_GPU_S:
            return False
        demoted = [k for k in self.running if self.attained_gpu_s[k] >= LAS_THRESHOLD_GPU_S]
        demoted.sort(key=lambda k: (-self.attained_gpu_s[k], k))
        were: dict[int, dict[int, int]] = {}
        for k in demoted:
            were[k] = dict(self.occupancy.servers_of[k])
            self._placer.remove(k)
            if self._placer.place(j):
                for moved, servers in were.items():
                    changed.update(servers)
                    self.running.remove(moved)
                    self.waiting.add(moved)
                return True
        for k, servers in were.items():
            self._placer.put_back(k, servers)
        return False
