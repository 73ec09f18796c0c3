"""All ways to run jobs in one slot that are worth looking at, with the iterations they do.

Of servers that are alike and hold the same the first takes no fewer tasks of a job. Slowdowns are
sums of the table, which nobody's absence makes larger, so a job that may move is never better off
where every job does no more: of such ways only the best are kept. With boards every set of free
GPUs is tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ...instance import QueueingInstance

#: Triples (server, tasks, GPUs) of a job, by server; no GPUs are named without boards.
Tasks = tuple[tuple[int, int, tuple[int, ...]], ...]
#: Pairs of a job that runs and its tasks, by job.
Placement = tuple[tuple[int, Tasks], ...]

#: Triples (job, tasks, GPUs) of a server.
Content = tuple[tuple[int, int, tuple[int, ...]], ...]

#: Steps after which the time is looked at, and rows that are compared in one.
#: Tuned: `benchmarks/constants.py`.
CHECKED, COMPARED = 10_000, 100


class TooManyStatesError(Exception):
    """A search has looked at as much as it may."""


@dataclass(frozen=True)
class Ways:
    """Ways to run some of the jobs that are there.

    Attributes
    ----------
    rates : array of int, shape (ways, jobs there)
        Iterations that each job does in the slot.
    placements : tuple of Placement
    """

    rates: Ints
    placements: tuple[Placement, ...]


class SlotWays:
    """Ways to run jobs in a slot, each set of jobs looked at once.

    Parameters
    ----------
    instance : QueueingInstance
        With slowdowns that are sums.
    most : int
        Steps that may be taken, each of which places a job or looks at its rate.
    stopped : callable
        Returns True if no more may be.
    """

    def __init__(self, instance: QueueingInstance, most: int, stopped: Callable[[], bool]):
        self._instance, self._most, self._stopped = instance, most, stopped
        self._unchecked = 0
        self._scale = instance.alpha_scale
        self._alpha = [[int(a * self._scale) for a in row] for row in instance.interference]
        self._rates: dict[tuple[int, int, int, Fraction | None], int] = {}
        self._known: dict[tuple[tuple[int, ...], Placement], Ways] = {}
        servers = instance.servers
        self._like_before = [s > 0 and servers[s] == servers[s - 1] for s in range(len(servers))]
        self._free = [[server.gpus, server.cpus] for server in servers]
        self._idle = [set(range(server.gpus)) if instance.boards else set() for server in servers]
        self._content: list[Content] = [() for _ in servers]
        self._neighbours = [[0] * instance.num_types for _ in servers]

    def of(self, there: tuple[int, ...], homes: Placement) -> Ways:
        """Return the ways to run jobs that have arrived and are not finished.

        Parameters
        ----------
        there : tuple of int
        homes : Placement
            Those of them that have to run, and where.

        Raises
        ------
        TooManyStatesError
        """
        key = (there, homes)
        if key not in self._known:
            self._known[key] = self._looked_at(there, homes)
        return self._known[key]

    def _looked_at(self, there: tuple[int, ...], homes: Placement) -> Ways:
        jobs = self._instance.jobs
        fixed = {j for j, _ in homes}
        largest_first = sorted(
            (j for j in there if j not in fixed),
            key=lambda j: (-jobs[j].num_tasks * jobs[j].gpus_per_task, j),
        )
        placed = dict(homes)
        for j, tasks in homes:
            self._put(j, tasks, 1)
        try:
            found: dict[tuple[int, ...], Placement] = {}
            several: list[tuple[tuple[int, ...], Placement]] = []
            for _ in self._fillings(largest_first, 0, placed):
                self._spend(len(placed))
                rates = tuple(self._rate(j, placed[j]) if j in placed else 0 for j in there)
                placement = tuple(sorted(placed.items()))
                if self._instance.migration:
                    found.setdefault(rates, placement)
                else:
                    several.append((rates, placement))
        finally:
            for j, tasks in homes:
                self._put(j, tasks, -1)
        pairs = list(found.items()) if self._instance.migration else several
        rates_of = np.array([rates for rates, _ in pairs], dtype=np.int64)
        kept = self._largest(rates_of) if self._instance.migration else range(len(pairs))
        return Ways(rates_of[list(kept)], tuple(pairs[k][1] for k in kept))

    def _fillings(self, order: Sequence[int], k: int, placed: dict[int, Tasks]) -> Iterator[None]:
        """Place the jobs from the k-th on, or leave them out, in all ways, one after the other."""
        if k == len(order):
            yield
            return
        j = order[k]
        for tasks in self._spreads(j, 0, self._instance.jobs[j].num_tasks, ()):
            self._put(j, tasks, 1)
            placed[j] = tasks
            try:
                yield from self._fillings(order, k + 1, placed)
            finally:
                del placed[j]
                self._put(j, tasks, -1)
        yield from self._fillings(order, k + 1, placed)

    def _put(self, j: int, tasks: Tasks, sign: int) -> None:
        job = self._instance.jobs[j]
        for s, n, gpus in tasks:
            self._free[s][0] -= sign * n * job.gpus_per_task
            self._free[s][1] -= sign * n * job.cpus_per_task
            self._neighbours[s][job.type] += sign * (n if self._instance.per_task else 1)
            self._idle[s].symmetric_difference_update(gpus)
            here = self._content[s]
            left = tuple(x for x in here if x[0] != j)
            self._content[s] = (*here, (j, n, gpus)) if sign > 0 else left

    def _spreads(self, j: int, s: int, left: int, before: Tasks) -> Iterator[Tasks]:
        """Yield the ways to spread what is left of a job's tasks over the servers from s on."""
        self._spend(1)
        if not left:
            yield before
            return
        if s == len(self._free):
            return
        job, most = self._instance.jobs[j], left
        needs = (job.gpus_per_task, job.cpus_per_task)
        for free, need in zip(self._free[s], needs, strict=True):
            if need:
                most = min(most, free // need)
        if self._like_before[s] and self._content[s] == self._content[s - 1]:
            most = min(most, before[-1][1] if before and before[-1][0] == s - 1 else 0)
        for n in range(most, -1, -1):
            for gpus in self._seats(j, s, n):
                after = (*before, (s, n, gpus)) if n else before
                yield from self._spreads(j, s + 1, left - n, after)

    def _seats(self, j: int, s: int, n: int) -> Iterable[tuple[int, ...]]:
        """Return the sets of GPUs that tasks of a job may have on a server."""
        if not self._instance.boards:
            return ((),)
        need = n * self._instance.jobs[j].gpus_per_task
        return itertools.combinations(sorted(self._idle[s]), need)

    def _largest(self, rows: Ints) -> list[int]:
        """Return the rows that no other row is nowhere below, those of large sum first."""
        kept: list[int] = []
        chosen = np.empty_like(rows)
        for k in np.argsort(-rows.sum(axis=1), kind="stable").tolist():
            self._spend(1 + len(kept) // COMPARED)
            if not (chosen[: len(kept)] >= rows[k]).all(axis=1).any():
                chosen[len(kept)] = rows[k]
                kept.append(k)
        return kept

    def _spend(self, steps: int) -> None:
        self._most -= steps
        self._unchecked += steps
        if self._most < 0 or (self._unchecked > CHECKED and self._stopped()):
            raise TooManyStatesError
        self._unchecked %= CHECKED

    def _rate(self, j: int, tasks: Tasks) -> int:
        """Return the iterations that a job does with these tasks, at most all that it has."""
        instance, job = self._instance, self._instance.jobs[j]
        row, slowdown = self._alpha[job.type], 0
        for s, n, _ in tasks:
            among = sum(a * k for a, k in zip(row, self._neighbours[s], strict=True) if k)
            slowdown = max(slowdown, among - row[job.type] * (n if instance.per_task else 1))
        span = instance.span([s for s, _, _ in tasks])
        ring = min(
            (
                instance.boards[instance.servers[s].board].ring_gbytes_s(gpus)
                for s, _, gpus in tasks
                if len(gpus) > 1
            ),
            default=None,
        )
        key = (j, slowdown, span, ring)
        if key not in self._rates:
            comm_s = instance.span_s(j, span)
            if ring is not None:
                comm_s = max(comm_s, instance.rings_gbytes[j] / ring)
            iteration_s = job.base_iteration_s * (1 + Fraction(slowdown, self._scale)) + comm_s
            self._rates[key] = min(job.iterations, int(instance.slot_s // iteration_s))
        return self._rates[key]


def alike(instance: QueueingInstance, homes: Placement) -> tuple[object, ...]:
    """Return what lies where, but for the names of servers that are alike."""
    on: dict[int, list[tuple[int, int, tuple[int, ...]]]] = {}
    for j, tasks in homes:
        for s, n, gpus in tasks:
            on.setdefault(s, []).append((j, n, gpus))
    contents: Mapping[int, Content] = {s: tuple(x) for s, x in on.items()}
    return tuple(
        tuple(sorted(contents.get(s, ()) for s in members))
        for members in instance.server_classes.values()
    )
