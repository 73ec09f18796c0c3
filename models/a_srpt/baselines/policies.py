r"""Online policies without a virtual machine (names from the paper, definitions reconstructed).

They use the mappings and the selection of servers that A-SRPT uses, start jobs as soon as they can
and never wait for a better place. Waiting jobs are ordered by a key of what is known at arrival:
predicted duration :math:`\tilde d_j`, predicted workload :math:`g_j \tilde d_j`, or release; ties
go by release, then by job.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import ASrptInstance
from ..subproblems.cluster import Cluster, Kind
from ..subproblems.mapper import Mapper
from ..subproblems.names import MappingRule, PredictorName
from ..subproblems.simulation import require_at_least, simulate

#: (predicted ticks, GPUs, release in microticks) -> what waiting jobs are ordered by.
_Key = Callable[[int, int, int], int]


class _Waiting:
    """What the policies share: jobs wait by GPUs and block, those of one kind ordered by key."""

    def __init__(self, instance: ASrptInstance, cluster: Cluster, key: _Key):
        self.cluster = cluster
        self._instance = instance
        self._key = key
        self._of_kind: dict[Kind, list[tuple[int, int, int]]] = {}

    @property
    def next_event(self) -> int | None:
        """None: these policies decide when jobs arrive or complete."""
        return None

    def arrive(self, job: int, now: int, predicted: int) -> None:
        """Let a job wait."""
        kind = self.cluster.kind(job)
        key = self._key(self.predicted_ticks(job, predicted), kind[0], now)
        heapq.heappush(self._of_kind.setdefault(kind, []), (key, now, job))

    def predicted_ticks(self, job: int, predicted: int) -> int:
        """Return the predicted duration on the empty cluster."""
        instance = self._instance
        job_type = instance.jobs[job].job_type
        units = self.cluster.mapper.on_empty_cluster(job_type)
        return instance.times[job_type].ticks(units, predicted, instance.tick_s)

    def start_first(self, now: int, *, that_fits: bool) -> int | None:
        """Start the first waiting job, or the first that fits, if it fits; return it."""
        queues = (
            (queue[0], kind)
            for kind, queue in self._of_kind.items()
            if queue and (not that_fits or self.cluster.has_room(kind))
        )
        first, kind = min(queues, default=(None, (0, 1, ())))
        if first is None or not self.cluster.has_room(kind):
            return None
        heapq.heappop(self._of_kind[kind])
        job = first[2]
        self.cluster.start(job, now, self.cluster.offer(job))
        return job


class _InOrder(_Waiting):
    """Head-of-line blocking: a job that does not fit lets nobody pass."""

    def dispatch(self, now: int) -> None:
        """Start jobs from the front of the queue."""
        while self.start_first(now, that_fits=False) is not None:
            pass


class _WorkConserving(_Waiting):
    """Every waiting job that fits starts, in order: backfilling without a reservation."""

    def dispatch(self, now: int) -> None:
        """Start all that fits; what has been passed over does not fit later in the same scan."""
        while self.start_first(now, that_fits=True) is not None:
            pass


def _duration(ticks: int, gpus: int, release: int) -> int:
    return ticks


def _workload(ticks: int, gpus: int, release: int) -> int:
    return ticks * gpus


def _release(ticks: int, gpus: int, release: int) -> int:
    return release


def _run(
    instance: ASrptInstance,
    policy: type[_InOrder | _WorkConserving],
    key: _Key,
    limits: Limits,
    rng: np.random.Generator,
    mapping: MappingRule,
    predictor: PredictorName,
    noise_sd: float,
    comm_threshold: float,
) -> MethodOutcome:
    """Return the schedule of a policy with a key."""
    require_at_least(1, comm_threshold=comm_threshold)
    cluster = Cluster(instance, Mapper(instance, mapping), decimal_rational(comm_threshold))
    made = policy(instance, cluster, key)
    return simulate(instance, made, Clock(limits), predictor, noise_sd, rng)


@method(kind="baseline", reference="name from the paper, definition reconstructed")
def spjf(
    instance: ASrptInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    mapping: MappingRule = "heavy_edge",
    predictor: PredictorName = "oracle",
    noise_sd: float = 0.0,
    comm_threshold: float = 1.5,
) -> MethodOutcome:
    """Shortest predicted job first; the first blocks.

    The parameters are those of `algorithms.a_srpt`.
    """
    own = mapping, predictor, noise_sd, comm_threshold
    return _run(instance, _InOrder, _duration, limits, rng, *own)


@method(kind="baseline", reference="name from the paper, definition reconstructed")
def spwf(
    instance: ASrptInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    mapping: MappingRule = "heavy_edge",
    predictor: PredictorName = "oracle",
    noise_sd: float = 0.0,
    comm_threshold: float = 1.5,
) -> MethodOutcome:
    """Smallest predicted workload first; the first blocks.

    The parameters are those of `algorithms.a_srpt`.
    """
    own = mapping, predictor, noise_sd, comm_threshold
    return _run(instance, _InOrder, _workload, limits, rng, *own)


@method(kind="baseline", reference="name from the paper, definition reconstructed")
def wcs_duration(
    instance: ASrptInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    mapping: MappingRule = "heavy_edge",
    predictor: PredictorName = "oracle",
    noise_sd: float = 0.0,
    comm_threshold: float = 1.5,
) -> MethodOutcome:
    """All that fits, by predicted duration.

    The parameters are those of `algorithms.a_srpt`.
    """
    own = mapping, predictor, noise_sd, comm_threshold
    return _run(instance, _WorkConserving, _duration, limits, rng, *own)


@method(kind="baseline", reference="name from the paper, definition reconstructed")
def wcs_workload(
    instance: ASrptInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    mapping: MappingRule = "heavy_edge",
    predictor: PredictorName = "oracle",
    noise_sd: float = 0.0,
    comm_threshold: float = 1.5,
) -> MethodOutcome:
    """All that fits, by predicted workload.

    The parameters are those of `algorithms.a_srpt`.
    """
    own = mapping, predictor, noise_sd, comm_threshold
    return _run(instance, _WorkConserving, _workload, limits, rng, *own)


@method(kind="baseline", reference="name from the paper, definition reconstructed")
def wcs_subtime(
    instance: ASrptInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    mapping: MappingRule = "heavy_edge",
    predictor: PredictorName = "oracle",
    noise_sd: float = 0.0,
    comm_threshold: float = 1.5,
) -> MethodOutcome:
    """All that fits, by submission time.

    The parameters are those of `algorithms.a_srpt`.
    """
    own = mapping, predictor, noise_sd, comm_threshold
    return _run(instance, _WorkConserving, _release, limits, rng, *own)


@method(kind="baseline", reference="folklore")
def fifo(
    instance: ASrptInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    mapping: MappingRule = "heavy_edge",
    predictor: PredictorName = "oracle",
    noise_sd: float = 0.0,
    comm_threshold: float = 1.5,
) -> MethodOutcome:
    """In order of arrival; the first blocks.

    The parameters are those of `algorithms.a_srpt`.
    """
    own = mapping, predictor, noise_sd, comm_threshold
    return _run(instance, _InOrder, _release, limits, rng, *own)
