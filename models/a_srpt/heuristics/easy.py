"""EASY backfilling: a job may overtake the first one in the queue if it does not delay it.

The first job that does not fit gets a reservation: the time at which, by the predictions, its
blocks will fit. Others start now if they end by then, or leave it room. Predictions that turn out
too short move the reservation.

Of the jobs that wait only those are asked that may start: a kind of blocks that does not fit is
skipped as a whole, and so are jobs without room beside the reservation that are too long even on
the fastest servers. The reservation is found from the ends of running jobs, kept in order.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort

import numpy as np

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.knapsack.bins import Blocks, fit
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import ASrptInstance
from ..subproblems.cluster import Cluster, Kind
from ..subproblems.mapper import Mapper, gpus_held
from ..subproblems.names import MappingRule, PredictorName
from ..subproblems.simulation import require_at_least, simulate


@method(kind="baseline", reference="Lifka 1995")
def easy(
    instance: ASrptInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    mapping: MappingRule = "heavy_edge",
    predictor: PredictorName = "oracle",
    noise_sd: float = 0.0,
    comm_threshold: float = 1.5,
) -> MethodOutcome:
    """In order of arrival with EASY backfilling.

    Parameters
    ----------
    instance : ASrptInstance
    limits : Limits
        `time_s` ends the run without a schedule.
    rng : numpy.random.Generator
        For `predictor`.
    mapping, predictor, noise_sd, comm_threshold
        As in `algorithms.a_srpt`.

    Notes
    -----
    O(kinds + asked + reserved log waiting) per event: kinds of blocks that wait, jobs that are
    asked, and ends until the reservation. If that is for blocks, all jobs that fit are asked.
    """
    require_at_least(1, comm_threshold=comm_threshold)
    cluster = Cluster(instance, Mapper(instance, mapping), decimal_rational(comm_threshold))
    return simulate(instance, _Easy(instance, cluster), Clock(limits), predictor, noise_sd, rng)


class _Waiting:
    """Jobs of one kind that wait, by number of arrival."""

    def __init__(self, kind: Kind):
        self.kind = kind
        #: Numbers in order; and in order of the least ticks that the jobs may take, with these.
        self.numbers: list[int] = []
        self.shortest: list[tuple[int, int]] = []

    def add(self, number: int, ticks: int) -> None:
        """Add a job."""
        self.numbers.append(number)
        insort(self.shortest, (ticks, number))

    def remove(self, number: int, ticks: int) -> None:
        """Remove a job."""
        del self.numbers[bisect_left(self.numbers, number)]
        del self.shortest[bisect_left(self.shortest, (ticks, number))]


class _Easy:
    def __init__(self, instance: ASrptInstance, cluster: Cluster):
        self.cluster = cluster
        self._instance = instance
        self._predicted: dict[int, int] = {}
        #: The jobs in order of arrival, and those that wait by kind.
        self._arrived: list[int] = []
        self._waiting: dict[Kind, _Waiting] = {}
        #: Expected ends of jobs that were started, in order, some of which are over.
        self._ends: list[tuple[int, int]] = []

    @property
    def next_event(self) -> int | None:
        """None: it decides when jobs arrive or complete."""
        return None

    def arrive(self, job: int, now: int, predicted: int) -> None:
        """Append a job to the queue."""
        self._predicted[job] = predicted
        kind = self.cluster.kind(job)
        self._waiting.setdefault(kind, _Waiting(kind)).add(len(self._arrived), self._least(job))
        self._arrived.append(job)

    def dispatch(self, now: int) -> None:
        """Start the head of the queue as long as it fits, then backfill."""
        while self._waiting:
            first = self._head()
            if not self.cluster.has_room(first.kind):
                break
            self._start(first, first.numbers[0], now)
        fitting = [w for w in self._waiting.values() if self.cluster.has_room(w.kind)]
        if fitting:
            self._backfill(fitting, now)

    def _head(self) -> _Waiting:
        """Return the jobs of which the first is the head of the queue."""
        return min(self._waiting.values(), key=lambda waiting: waiting.numbers[0])

    def _backfill(self, fitting: list[_Waiting], now: int) -> None:
        """Start jobs that fit, in order of arrival, unless they delay the head of the queue."""
        blocks = self._head().kind[2]
        reserved, then = self._reservation(now, blocks)
        # Of each kind the jobs that end in time, last first; asked once no others may start.
        in_time: dict[Kind, list[int]] = {}
        asked: list[tuple[int, int]] = []

        def ask_next(k: int, after: int) -> None:
            """Ask the next job of a kind that may start, after one in order of arrival."""
            waiting = fitting[k]
            gpus, *_ = waiting.kind
            if len(then) > 1 or fit(blocks, [then[0] - gpus]):
                at = bisect_right(waiting.numbers, after)
                if at < len(waiting.numbers):
                    heapq.heappush(asked, (waiting.numbers[at], k))
                return
            if waiting.kind not in in_time:
                ticks = (reserved - now) // self._instance.total_gpus
                short = waiting.shortest[: bisect_left(waiting.shortest, (ticks + 1, -1))]
                in_time[waiting.kind] = sorted((n for _, n in short), reverse=True)
            left = in_time[waiting.kind]
            while left and left[-1] <= after:
                left.pop()
            if left:
                heapq.heappush(asked, (left[-1], k))

        for k in range(len(fitting)):
            ask_next(k, -1)
        while asked:
            number, k = heapq.heappop(asked)
            waiting, job = fitting[k], self._arrived[number]
            if not self.cluster.has_room(waiting.kind):
                continue
            beside = self._beside(job, then)
            starts = fit(blocks, beside) or self._end(job, now) <= reserved
            if starts and self._start(waiting, number, now) > reserved:
                then = beside
            ask_next(k, number)

    def _reservation(self, now: int, blocks: Blocks) -> tuple[int, list[int]]:
        """Return when blocks will fit, and the GPUs that are free then: if single, as of one."""
        single, running = blocks[0][0] == 1, self.cluster.running
        then = [self.cluster.free.total] if single else self.cluster.free.free.copy()
        reserved, looked_at = now, 0
        current: list[tuple[int, int]] = []
        for expected, job in self._ends:
            if job not in running:
                looked_at += 1
                continue
            end = max(now, expected)
            if end > reserved and current and fit(blocks, then):
                break
            reserved = end
            current.append((expected, job))
            looked_at += 1
            if single:
                then[0] += self.cluster.gpus[job]
                continue
            for m, gpus in running[job]:
                then[m] += gpus
        else:
            assert fit(blocks, then), "all servers together have room for any job"
        self._ends[:looked_at] = current
        return reserved, then

    def _beside(self, job: int, free: list[int]) -> list[int]:
        """Return what of free GPUs is left beside a job where it is offered a place."""
        if len(free) == 1:
            return [free[0] - self.cluster.gpus[job]]
        offer = self.cluster.offer(job)
        job_type = self._instance.job_types[self._instance.jobs[job].job_type]
        held = dict(zip(offer.servers, gpus_held(job_type, offer.placement), strict=True))
        return [f - held.get(m, 0) for m, f in enumerate(free)]

    def _end(self, job: int, now: int) -> int:
        """Return when a job would end if it began now where it is offered a place."""
        return self._expected(job, now, self.cluster.offer(job).units)

    def _expected(self, job: int, now: int, units: int) -> int:
        return now + self._instance.total_gpus * self._ticks(job, units)

    def _ticks(self, job: int, units: int) -> int:
        instance = self._instance
        times = instance.times[instance.jobs[job].job_type]
        return times.ticks(units, self._predicted[job], instance.tick_s)

    def _least(self, job: int) -> int:
        """Return the ticks, as predicted, that a job takes at least: all of it on one server."""
        return self._ticks(job, self._instance.times[self._instance.jobs[job].job_type].together)

    def _start(self, waiting: _Waiting, number: int, now: int) -> int:
        """Start a job that waits; return when it is expected to end."""
        job = self._arrived[number]
        waiting.remove(number, self._least(job))
        if not waiting.numbers:
            del self._waiting[waiting.kind]
        offer = self.cluster.offer(job)
        self.cluster.start(job, now, offer)
        end = self._expected(job, now, offer.units)
        insort(self._ends, (end, job))
        return end
