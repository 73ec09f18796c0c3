r"""Online policies without a virtual machine (names from the paper, definitions reconstructed).

They use the mappings and the selection of servers that A-SRPT uses, start jobs as soon as they can
and never wait for a better place. Waiting jobs are ordered by a key of what is known at arrival:
predicted duration :math:`\tilde d_j`, predicted workload :math:`g_j \tilde d_j`, or release; ties
go by release, then by job.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import ASrptInstance
from ..subproblems.cluster import Cluster
from ..subproblems.mapper import Mapper
from ..subproblems.simulation import require_at_least, simulate

#: (predicted ticks, GPUs, release in microticks) -> what waiting jobs are ordered by.
_Key = Callable[[int, int, int], int]


class _Waiting:
    """What the policies share: jobs wait by size, each size ordered by key."""

    def __init__(self, instance: ASrptInstance, cluster: Cluster, key: _Key):
        self.cluster = cluster
        self._instance = instance
        self._key = key
        self._of_size: dict[int, list[tuple[int, int, int]]] = {}

    @property
    def next_event(self) -> int | None:
        """None: these policies decide when jobs arrive or complete."""
        return None

    def arrive(self, job: int, now: int, predicted: int) -> None:
        """Let a job wait."""
        gpus = self.cluster.gpus[job]
        key = self._key(self.predicted_ticks(job, predicted), gpus, now)
        heapq.heappush(self._of_size.setdefault(gpus, []), (key, now, job))

    def predicted_ticks(self, job: int, predicted: int) -> int:
        """Return the predicted duration on the empty cluster."""
        instance = self._instance
        job_type = instance.jobs[job].job_type
        units = self.cluster.mapper.on_empty_cluster(job_type)
        return instance.times[job_type].ticks(units, predicted, instance.tick_s)

    def start_first(self, now: int, most_gpus: int | None) -> int | None:
        """Start the first waiting job of at most so many GPUs, if it fits; return it."""
        queues = (
            (queue[0], gpus)
            for gpus, queue in self._of_size.items()
            if queue and (most_gpus is None or gpus <= most_gpus)
        )
        first, gpus = min(queues, default=(None, 0))
        if first is None or gpus > self.cluster.free.total:
            return None
        heapq.heappop(self._of_size[gpus])
        job = first[2]
        self.cluster.start(job, now, self.cluster.offer(job))
        return job


class _InOrder(_Waiting):
    """Head-of-line blocking: a job that does not fit lets nobody pass."""

    def dispatch(self, now: int) -> None:
        """Start jobs from the front of the queue."""
        while self.start_first(now, None) is not None:
            pass


class _WorkConserving(_Waiting):
    """Every waiting job that fits starts, in order: backfilling without a reservation."""

    def dispatch(self, now: int) -> None:
        """Start all that fits; what has been passed over does not fit later in the same scan."""
        while self.start_first(now, self.cluster.free.total) is not None:
            pass


def _duration(ticks: int, gpus: int, release: int) -> int:
    return ticks


def _workload(ticks: int, gpus: int, release: int) -> int:
    return ticks * gpus


def _release(ticks: int, gpus: int, release: int) -> int:
    return release


def _method(policy: type[Any], key: _Key, summary: str) -> Callable[..., MethodOutcome]:
    def run(
        instance: ASrptInstance,
        limits: Limits,
        rng: np.random.Generator,
        *,
        mapping: str = "heavy_edge",
        predictor: str = "oracle",
        noise_sd: float = 0.0,
        comm_threshold: float = 1.5,
    ) -> MethodOutcome:
        require_at_least(1, comm_threshold=comm_threshold)
        cluster = Cluster(instance, Mapper(instance, mapping), decimal_rational(comm_threshold))
        made = policy(instance, cluster, key)
        return simulate(instance, made, Clock(limits), predictor, noise_sd, rng)

    run.__doc__ = f"""{summary}

    Parameters
    ----------
    instance : ASrptInstance
    limits : Limits
        `time_s` ends the run without a schedule.
    rng : numpy.random.Generator
        For `predictor`.
    mapping, predictor, noise_sd, comm_threshold
        As in `algorithms.a_srpt`.
    """
    return run


fifo: Callable[..., MethodOutcome] = _method(
    _InOrder, _release, "Return the schedule in order of arrival; the first blocks."
)
spjf: Callable[..., MethodOutcome] = _method(
    _InOrder, _duration, "Return the schedule by predicted duration, shortest first; it blocks."
)
spwf: Callable[..., MethodOutcome] = _method(
    _InOrder, _workload, "Return the schedule by predicted workload, smallest first; it blocks."
)
wcs_duration: Callable[..., MethodOutcome] = _method(
    _WorkConserving, _duration, "Return the work-conserving schedule by predicted duration."
)
wcs_workload: Callable[..., MethodOutcome] = _method(
    _WorkConserving, _workload, "Return the work-conserving schedule by predicted workload."
)
wcs_subtime: Callable[..., MethodOutcome] = _method(
    _WorkConserving, _release, "Return the work-conserving schedule by submission time."
)
