"""EASY backfilling: a job may overtake the first one in the queue if it does not delay it.

The first job that does not fit gets a reservation: the time at which, by the predictions, enough
GPUs will be free. Others start now if they end by then, or leave it enough GPUs. Predictions that
turn out too short move the reservation.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import ASrptInstance
from ..subproblems.cluster import Cluster
from ..subproblems.mapper import Mapper
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
    O(waiting + running) per event.
    """
    require_at_least(1, comm_threshold=comm_threshold)
    cluster = Cluster(instance, Mapper(instance, mapping), decimal_rational(comm_threshold))
    return simulate(instance, _Easy(instance, cluster), Clock(limits), predictor, noise_sd, rng)


class _Easy:
    def __init__(self, instance: ASrptInstance, cluster: Cluster):
        self.cluster = cluster
        self._instance = instance
        self._queue: list[int] = []
        self._predicted: dict[int, int] = {}
        self._expected_end: dict[int, int] = {}

    @property
    def next_event(self) -> int | None:
        """None: it decides when jobs arrive or complete."""
        return None

    def arrive(self, job: int, now: int, predicted: int) -> None:
        """Append a job to the queue."""
        self._predicted[job] = predicted
        self._queue.append(job)

    def dispatch(self, now: int) -> None:
        """Start the head of the queue as long as it fits, then backfill."""
        gpus, free = self.cluster.gpus, self.cluster.free
        begun = 0
        while begun < len(self._queue) and self.cluster.fits(self._queue[begun]):
            self._start(self._queue[begun], now)
            begun += 1
        del self._queue[:begun]
        if len(self._queue) < 2 or not free.total:
            return
        reserved, spare = self._reservation(now, gpus[self._queue[0]])
        still = self._queue[:1]
        for job in self._queue[1:]:
            fits = self.cluster.fits(job)
            if fits and (gpus[job] <= spare or self._end(job, now) <= reserved):
                if self._start(job, now) > reserved:
                    spare -= gpus[job]
            else:
                still.append(job)
        self._queue = still

    def _reservation(self, now: int, needed: int) -> tuple[int, int]:
        """Return when so many GPUs will be free, and how many more will be then."""
        free = self.cluster.free.total
        ends = sorted(
            (max(now, self._expected_end[job]), self.cluster.gpus[job])
            for _, job in self.cluster.running
        )
        for at, (end, gpus) in enumerate(ends):
            free += gpus
            if free >= needed and (at + 1 == len(ends) or ends[at + 1][0] > end):
                return end, free - needed
        raise AssertionError("all GPUs together are enough for any job")

    def _end(self, job: int, now: int) -> int:
        """Return when a job would end if it began now where it is offered a place."""
        return self._expected(job, now, self.cluster.offer(job).units)

    def _expected(self, job: int, now: int, units: int) -> int:
        instance = self._instance
        times = instance.times[instance.jobs[job].job_type]
        ticks = times.ticks(units, self._predicted[job], instance.tick_s)
        return now + instance.total_gpus * ticks

    def _start(self, job: int, now: int) -> int:
        offer = self.cluster.offer(job)
        self.cluster.start(job, now, offer)
        self._expected_end[job] = end = self._expected(job, now, offer.units)
        return end
