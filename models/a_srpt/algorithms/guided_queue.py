"""The queue of A-SRPT, and the scan that starts its jobs.

A scan goes through the queue in order. It ends at a job that needs more GPUs than are free; it
passes over a heavy job whose place would be too slow, as long as its delay lasts.

Jobs that were passed over are not touched again by every scan; what it decides is the same. Most
would do with one server, and no division over several is fast enough for them: they are kept by
size and looked at when a server has room. To the others, too, jobs of one size are offered the same
place, and who has turned one down turns it down again (`declined`). Nor is a place worth a look as
long as its largest server has fewer free GPUs than any fast enough division of a job needs.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from fractions import Fraction

from ..instance import ASrptInstance
from ..subproblems.cluster import Cluster, Kind
from .declined import Entry as _Entry
from .declined import Waiting


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
        #: Not looked at yet, or no longer delayed, as a heap.
        self._fresh: list[_Entry] = []
        #: Passed over: by GPUs those that wait for a server, sorted; by GPUs and weight the others.
        self._for_one_server: dict[Kind, list[_Entry]] = {}
        self._for_better: dict[tuple[Kind, bool], Waiting] = {}
        #: By job type, `_least_room`.
        self._room: dict[int, int] = {}
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
        last: _Entry = (-1, -1)
        while True:
            entry = self._next(last)
            if entry is None or not self._cluster.fits(entry[1]):
                break
            job = entry[1]
            fresh = bool(self._fresh) and self._fresh[0] == entry
            if fresh:
                heapq.heappop(self._fresh)
            last = entry
            if self._start(job, now):
                if not fresh:
                    self._leave(entry)
            elif fresh:
                self.delays += 1
                heapq.heappush(self._expiries, (self._until[job], *entry))
                self._wait(entry)
            elif not self._needs_one_server(job):
                self._group(job).decline(self._cluster.capacities(job), entry)

    def _next(self, last: _Entry) -> _Entry | None:
        """Return the first job that is fresh, or was passed over and may start or end the scan.

        The scan has come to `last`: jobs before it that wait have been passed over.
        """
        most = self._cluster.free.most
        first = self._fresh[0] if self._fresh else None
        for kind, waits in self._for_one_server.items():
            if kind[0] <= most or not self._cluster.has_room(kind):
                at = bisect_right(waits, last)
                if at < len(waits) and (first is None or waits[at] < first):
                    first = waits[at]
        for (kind, _), group in self._for_better.items():
            entry = group.following(last)
            # Where even that one comes later, it need not be known which of the group is next.
            if entry is None or (first is not None and entry > first):
                continue
            if self._cluster.has_room(kind):
                if most < group.least:
                    continue
                entry = group.unasked(self._cluster.capacities(entry[1]), last)
            if entry is not None and (first is None or entry < first):
                first = entry
        return first

    def _group(self, job: int) -> Waiting:
        """Return the jobs that are offered the same places as a job."""
        key = self._cluster.kind(job), self._cluster.is_heavy(job)
        return self._for_better.setdefault(key, Waiting())

    def _wait(self, entry: _Entry) -> None:
        """Keep a job with those passed over."""
        job = entry[1]
        if self._needs_one_server(job):
            insort(self._for_one_server.setdefault(self._cluster.kind(job), []), entry)
        else:
            self._group(job).join(entry, self._least_room(job))

    def _leave(self, entry: _Entry) -> None:
        """Take a job from those passed over."""
        job = entry[1]
        if self._needs_one_server(job):
            waits = self._for_one_server[self._cluster.kind(job)]
            del waits[bisect_left(waits, entry)]
        else:
            self._group(job).leave(entry, self._least_room(job))

    def _start(self, job: int, now: int) -> bool:
        """Start a job that fits, unless it waits for a better place."""
        if now < self._until[job] and self._declines(job):
            return False
        self._cluster.start(job, now, self._cluster.offer(job))
        del self._until[job]
        return True

    def _declines(self, job: int) -> bool:
        """Return True if a delayed job that fits would rather wait than take its place."""
        most = self._cluster.free.most
        if most < self._cluster.gpus[job] and most < self._least_room(job):
            return True
        return self._too_slow(job, self._cluster.offer(job).units)

    def _too_slow(self, job: int, units: int) -> bool:
        best = self._cluster.mapper.on_empty_cluster(self._jobs[job].job_type)
        return units * self._under > best * self._over

    def _needs_one_server(self, job: int) -> bool:
        """Return True if a delayed job starts on one server or not at all."""
        if self._cluster.gpus[job] > self._largest or not self._cluster.is_heavy(job):
            return False
        return self._too_slow(job, self._cluster.mapper.split_floor(self._jobs[job].job_type))

    def _least_room(self, job: int) -> int:
        """Return how many free GPUs some server has to have for a delayed job to be divided."""
        job_type = self._jobs[job].job_type
        least = self._room.get(job_type)
        if least is None:
            mapper = self._cluster.mapper
            rooms = range(1, self._largest + 1)
            fast = (c for c in rooms if not self._too_slow(job, mapper.floor_among(job_type, c)))
            least = self._room[job_type] = next(fast, self._largest + 1)
        return least

    def _end_delays(self, now: int) -> None:
        """Let jobs whose delay has ended take any place: they are looked at by the next scan."""
        while self._expiries and self._expiries[0][0] <= now:
            _, key, job = heapq.heappop(self._expiries)
            if job in self._until:
                self._leave((key, job))
                heapq.heappush(self._fresh, (key, job))
