"""Instances and solutions of SJF-BCO: a cluster, a batch of gangs, and where and when each runs."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from gadgetopt.numbers.standards import ETHERNET, PCI_EXPRESS, Called, Sourced
from gadgetopt.system.data import (
    Data,
    Instance,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Solution,
)

from .rates import RateTable

#: Limits on iterations of a job, and on GPUs of a server or gang, beyond any real case: durations,
#: GPUs and their products stay far below the limits of 64-bit integers and of doubles.
MOST_ITERATIONS = 10**9
MOST_GPUS = 10**12
#: Shortest iteration time, so that the iterations of a slot stay countable.
SHORTEST_ITERATION_SLOTS = 1e-12

GpuCount = Annotated[int, Field(gt=0, le=MOST_GPUS)]
UnitCoefficient = Annotated[float, Field(gt=0, le=1)]


class Job(Data):
    """One ring-all-reduce training job.

    Attributes
    ----------
    gpus : int
        Gang size G_j.
    iterations : int
        Iterations F_j to run.
    grad_size_mb : float
        Gradient size m_j.
    minibatch_samples : float
        Mini-batch size M_j.
    fwd_slots_per_sample, bwd_slots : float
        Forward time of one sample and backward time of an iteration.
    server_spread_factor : float
        lambda_j of LBSGF.
    est_slots : float or None
        Execution time estimate for the algorithms; None means the shortest duration.
    """

    gpus: GpuCount
    iterations: Annotated[int, Field(gt=0, le=MOST_ITERATIONS)]
    grad_size_mb: NonNegativeFloat = 0.0
    minibatch_samples: NonNegativeFloat = 0.0
    fwd_slots_per_sample: NonNegativeFloat = 0.0
    bwd_slots: NonNegativeFloat = 0.0
    server_spread_factor: Annotated[float, Field(ge=1)] = 1.0
    est_slots: PositiveFloat | None = None
    name: str | None = None


def one_after_another(fields: dict[str, Any]) -> int:
    """Return the slots of the jobs if each runs alone, where it is fastest."""
    try:
        instance = SjfBcoInstance.model_validate_json(json.dumps({**fields, "horizon_slots": 1}))
    except ValidationError:  # the instance, which then has all its fields, says what is wrong
        return 1
    return int(instance.rates.exec_min.sum())


#: What an instance of one's own has where nobody says otherwise; slots are seconds. A GPU reduces
#: as fast as its memory reads two numbers and writes one. Every job that shares a link gets an
#: equal part of it. Jobs of the paper spend up to 15 % of an iteration of 0.01 slots or more on
#: contention and overhead.
INTER_BW = Sourced(12_500, f"{ETHERNET}, with slots of 1 s")
INTRA_BW = Sourced(2_048_000 / 65, f"{PCI_EXPRESS}, with slots of 1 s")
REDUCTION = Sourced(
    1_555_000 / 3, "a third of the memory bandwidth of an A100 of 40 GB (data sheet), slots of 1 s"
)
CONTENTION = Sourced(1, "equal parts of a link for all that share it")
OVERHEAD = Sourced(0.001, "within 15 % of an iteration of 0.01 slots (the paper's experiments)")
HORIZON = Sourced(one_after_another, "all jobs one after another, each where it is fastest")


class SjfBcoInstance(Instance):
    """A cluster with link and contention constants, and the jobs that wait at slot 0.

    Times are in slots and bandwidths in MB per slot; field names carry the units. `rates` is the
    derived table phi_j(r, p).
    """

    server_gpus: Annotated[tuple[GpuCount, ...], Field(min_length=1), Called("servers")]
    horizon_slots: Annotated[PositiveInt, HORIZON]
    inter_bw_mb_per_slot: Annotated[PositiveFloat, INTER_BW]
    intra_bw_mb_per_slot: Annotated[PositiveFloat, INTRA_BW]
    gpu_reduce_mb_per_slot: Annotated[PositiveFloat, REDUCTION]
    contention_coeff: Annotated[UnitCoefficient, CONTENTION]
    overhead_coeff: Annotated[UnitCoefficient, OVERHEAD]
    overhead_unit_slots: PositiveFloat = 1.0
    degradation_alpha: NonNegativeFloat = 0.0
    clamp_contention: bool = True
    overhead_free_local: bool = False
    jobs: Annotated[tuple[Job, ...], Field(min_length=1)]

    @property
    def total_gpus(self) -> int:
        """N, the number of GPUs of the cluster."""
        return sum(self.server_gpus)

    @cached_property
    def rates(self) -> RateTable:
        """Rates phi_j(r, p): iterations per slot on r servers at contention level p."""
        return RateTable(self)

    @model_validator(mode="after")
    def _every_job_can_run(self) -> Self:
        total = self.total_gpus
        for j, job in enumerate(self.jobs):
            if job.gpus > total:
                raise ValueError(
                    f"jobs[{j}].gpus: {job.gpus} is more than the {total} GPUs of the cluster"
                )
        if not self.clamp_contention and self.rates.degradation(1) <= 0:
            raise ValueError(
                "clamp_contention: false makes the degradation f(alpha, k) of a lone spread job "
                f"{float(self.rates.degradation(1)):g}, expected a value > 0"
            )
        for j in self.rates.jobs_faster_than(SHORTEST_ITERATION_SLOTS):
            best = float(self.rates.best_iteration_slots(j))
            raise ValueError(
                f"jobs[{j}].bwd_slots: an iteration takes {best:g} slots at its best placement, "
                f"expected at least {SHORTEST_ITERATION_SLOTS:g}"
            )
        for j in self.rates.jobs_slower_than_a_slot():
            best = float(self.rates.best_iteration_slots(j))
            raise ValueError(
                f"jobs[{j}]: one iteration takes {best:g} slots at its best placement, "
                "expected at most 1 (use longer slots)"
            )
        return self


class SjfBcoSolution(Solution):
    """Start slot of each job, and its number of GPUs on each server while it runs.

    Attributes
    ----------
    start_slot : tuple of int
        a_j.
    placement : tuple of dict
        y_js for the servers used: server index to number of GPUs.
    completion_slot : tuple of int, optional
        The instant at which each job releases its GPUs, if the schedule states it. It must not be
        before the simulated completion: that would be a preemption.
    gpu_ids : tuple of dict, optional
        The GPUs used on each server, if the schedule states them.
    """

    start_slot: tuple[int, ...]
    placement: tuple[dict[NonNegativeInt, int], ...]
    completion_slot: tuple[int, ...] | None = None
    gpu_ids: tuple[dict[NonNegativeInt, tuple[NonNegativeInt, ...]], ...] | None = None


def size(instance: SjfBcoInstance) -> dict[str, int]:
    """Return the size of an instance: jobs, servers, GPUs and demand."""
    return {
        "jobs": len(instance.jobs),
        "servers": len(instance.server_gpus),
        "gpus": instance.total_gpus,
        "gpus_requested": sum(job.gpus for job in instance.jobs),
        "largest_gang": max(job.gpus for job in instance.jobs),
    }
