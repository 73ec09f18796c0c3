"""EASY backfilling: a job may overtake the first one in the queue if it does not delay it.

The first job that does not fit gets a reservation: the time at which, by the predictions, its
blocks will fit. Others start now if they end by then, or leave it room. Predictions that turn out
too short move the reservation.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.knapsack.bins import Blocks, fit
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import ASrptInstance
from ..subproblems.cluster import Cluster
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
        begun = 0
        while begun < len(self._queue) and self.cluster.fits(self._queue[begun]):
            self._start(self._queue[begun], now)
            begun += 1
        del self._queue[:begun]
        if len(self._queue) < 2 or not self.cluster.free.total:
            return
        blocks = self.cluster.kind(self._queue[0])[2]
        reserved, then = self._reservation(now, blocks)
        still = self._queue[:1]
        for job in self._queue[1:]:
            if not self.cluster.fits(job):
                still.append(job)
                continue
            beside = self._beside(job, then)
            if not fit(blocks, beside) and self._end(job, now) > reserved:
                still.append(job)
            elif self._start(job, now) > reserved:
                then = beside
        self._queue = still

    def _reservation(self, now: int, blocks: Blocks) -> tuple[int, list[int]]:
        """Return when blocks will fit, and the GPUs that are free then: if single, as of one."""
        free, total = self.cluster.free.free.copy(), self.cluster.free.total
        running = ((max(now, self._expected_end[j]), j, used) for j, used in self.cluster.running)
        ends = sorted(running, key=lambda entry: entry[:2])
        for at, (end, job, used) in enumerate(ends):
            for m, gpus in used:
                free[m] += gpus
            total += self.cluster.gpus[job]
            then = [total] if blocks[0][0] == 1 else free
            if (at + 1 == len(ends) or ends[at + 1][0] > end) and fit(blocks, then):
                return end, then
        raise AssertionError("all servers together have room for any job")

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
        instance = self._instance
        times = instance.times[instance.jobs[job].job_type]
        ticks = times.ticks(units, self._predicted[job], instance.tick_s)
        return now + instance.total_gpus * ticks

    def _start(self, job: int, now: int) -> int:
        offer = self.cluster.offer(job)
        self.cluster.start(job, now, offer)
        self._expected_end[job] = end = self._expected(job, now, offer.units)
        return end
