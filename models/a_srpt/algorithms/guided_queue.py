"""The queue of A-SRPT, and the scan that starts its jobs.

A scan goes through the queue in order. It ends at a job that needs more GPUs than are free; it
passes over a heavy job whose place would be too slow, as long as its delay lasts.

Most delayed jobs would do with one server, and no division over several is fast enough for them.
They are kept by size and looked at only when a server has room, so that a scan does not touch them
again and again; what it decides is the same.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from fractions import Fraction

from ..instance import ASrptInstance
from ..subproblems.cluster import Cluster

#: A job in the queue: what orders it, and its index.
_Entry = tuple[int | Fraction, int]


class GuidedQueue:
    """Jobs in order of a key, started on a cluster.

    Parameters
    ----------
    instance : ASrptInstance
    cluster : Cluster
    slack : Fraction
        A place is good enough for a delayed job if it is slower than the mapping onto the empty
        cluster by no more than this factor.

    Attributes
    ----------
    delays : int
        Jobs that have been passed over for a better place.
    """

    def __init__(self, instance: ASrptInstance, cluster: Cluster, slack: Fraction):
        self.delays: int = 0
        self._jobs = instance.jobs
        self._largest = instance.largest_server
        self._cluster = cluster
        self._over, self._under = slack.numerator, slack.denominator
        #: Not looked at yet, as a heap; passed over, sorted; by GPUs, waiting for a server, sorted.
        self._fresh: list[_Entry] = []
        self._passed_over: list[_Entry] = []
        self._for_one_server: dict[int, list[_Entry]] = {}
        #: Free GPUs of servers that a job would rather wait than take.
        self._declined: dict[int, set[tuple[int, ...]]] = {}
        #: End of delay of each job in the queue; and these with the jobs, as a heap.
        self._until: dict[int, int] = {}
        self._expiries: list[tuple[int, int | Fraction, int]] = []

    @property
    def next_expiry(self) -> int | None:
        """When the next delay ends."""
        return self._expiries[0][0] if self._expiries else None

    def join(self, key: int | Fraction, job: int, until: int) -> None:
        """Let a job join the queue; it may be delayed until the time given."""
        self._until[job] = until
        heapq.heappush(self._fresh, (key, job))

    def scan(self, now: int) -> None:
        """Start what may start now."""
        self._end_delays(now)
        gpus, free = self._cluster.gpus, self._cluster.free
        before, after = self._passed_over, []
        at = 0
        last: _Entry = (-1, -1)
        while True:
            entry = min(self._candidates(last), default=None)
            while at < len(before) and (entry is None or before[at] < entry):
                if not self._turned_down(before[at][1], now):
                    entry = before[at]
                    break
                after.append(before[at])
                at += 1
            if entry is None or gpus[entry[1]] > free.total:
                break
            job = entry[1]
            fresh = bool(self._fresh) and self._fresh[0] == entry
            if fresh:
                heapq.heappop(self._fresh)
            elif at < len(before) and before[at] == entry:
                at += 1
            else:
                waits = self._for_one_server[gpus[job]]
                del waits[bisect_left(waits, entry)]
            last = entry
            if self._start(job, now):
                continue
            if fresh:
                self.delays += 1
                heapq.heappush(self._expiries, (self._until[job], *entry))
            if self._needs_one_server(job):
                insort(self._for_one_server.setdefault(gpus[job], []), entry)
            else:
                after.append(entry)
        self._passed_over = after + before[at:]

    def _candidates(self, last: _Entry) -> Iterator[_Entry]:
        """Yield the first jobs that are fresh, or that wait for a server and may end the scan.

        The scan has come to `last`: jobs before it that wait for a server have been passed over.
        """
        free = self._cluster.free
        most = free.most
        if self._fresh:
            yield self._fresh[0]
        for size, waits in self._for_one_server.items():
            if size <= most or size > free.total:
                following = bisect_right(waits, last)
                if following < len(waits):
                    yield waits[following]

    def _start(self, job: int, now: int) -> bool:
        """Start a job that fits, unless it waits for a better place."""
        delayed = now < self._until[job]
        no_server = self._cluster.free.most < self._cluster.gpus[job]
        if delayed and no_server and self._needs_one_server(job):
            return False
        offer = self._cluster.offer(job)
        if delayed and self._too_slow(job, offer.units):
            self._declined.setdefault(job, set()).add(self._cluster.capacities(job))
            return False
        self._cluster.start(job, now, offer)
        del self._until[job]
        self._declined.pop(job, None)
        return True

    def _turned_down(self, job: int, now: int) -> bool:
        """Return True if a job would turn down its place because it did so before."""
        return (
            self._cluster.gpus[job] <= self._cluster.free.total
            and now < self._until[job]
            and self._cluster.capacities(job) in self._declined[job]
        )

    def _too_slow(self, job: int, units: int) -> bool:
        best = self._cluster.mapper.on_empty_cluster(self._jobs[job].job_type)
        return units * self._under > best * self._over

    def _needs_one_server(self, job: int) -> bool:
        """Return True if a delayed job starts on one server or not at all."""
        if self._cluster.gpus[job] > self._largest or not self._cluster.is_heavy(job):
            return False
        return self._too_slow(job, self._cluster.mapper.split_floor(self._jobs[job].job_type))

    def _end_delays(self, now: int) -> None:
        """Let jobs whose delay has ended take any place: they are looked at by the next scan."""
        while self._expiries and self._expiries[0][0] <= now:
            _, key, job = heapq.heappop(self._expiries)
            if job in self._until and self._needs_one_server(job):
                waits = self._for_one_server[self._cluster.gpus[job]]
                del waits[bisect_left(waits, (key, job))]
                heapq.heappush(self._fresh, (key, job))
