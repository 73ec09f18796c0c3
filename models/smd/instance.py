"""Instances and solutions of SMD: jobs with reservations, and workers and servers for each."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gadgetopt.pieces.utility import SigmoidUtility
from gadgetopt.system.data import (
    Data,
    Instance,
    NonNegativeFloat,
    NonNegativeInt,
    Solution,
)

from .ps_worker import PsWorkerJob

Amounts = tuple[NonNegativeFloat, ...]


class Job(PsWorkerJob):
    """A training job with parameter servers; its timing fields are those of `PsWorkerJob`.

    Attributes
    ----------
    worker_demand, ps_demand : tuple of float
        O^r, G^r: resources of one worker and of one server.
    reservation_limit : tuple of float
        v^r: what the user reserves. Workers and servers stay inside it.
    utility : SigmoidUtility
        mu of the completion time.
    """

    worker_demand: Amounts
    ps_demand: Amounts
    reservation_limit: Amounts
    utility: SigmoidUtility


class SmdInstance(Instance):
    """Jobs of one scheduling interval, and a cluster.

    Attributes
    ----------
    resources : tuple of str
    capacity : tuple of float
        C^r.
    charging : "reserved" or "used"
        What an admitted job takes from the cluster: its whole reservation, as in constraint (2), or
        only what its workers and servers use (reconstructed).
    jobs : tuple of Job
    """

    resources: Annotated[tuple[str, ...], Field(min_length=1)] = (
        "gpu",
        "vcpu",
        "memory_gb",
        "storage_gb",
    )
    capacity: Amounts
    charging: Literal["reserved", "used"] = "reserved"
    jobs: Annotated[tuple[Job, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        wanted = len(self.resources)
        if len(self.capacity) != wanted:
            raise ValueError(f"capacity: {len(self.capacity)} amounts for {wanted} resources")
        for i, job in enumerate(self.jobs):
            for name in ("worker_demand", "ps_demand", "reservation_limit"):
                given = len(getattr(job, name))
                if given != wanted:
                    raise ValueError(f"jobs[{i}].{name}: {given} amounts for {wanted} resources")
            for name in ("worker_demand", "ps_demand"):
                if not any(getattr(job, name)):
                    raise ValueError(f"jobs[{i}].{name}: all zero, expected a positive amount")
        return self


class Allocation(Data):
    """What one job gets.

    Attributes
    ----------
    admit : bool
        x_i.
    num_workers, num_ps : int
        w and p, meaningless unless admitted.
    """

    admit: bool
    num_workers: NonNegativeInt = 0
    num_ps: NonNegativeInt = 0


class SmdSolution(Solution):
    """An allocation for every job, in the instance's order."""

    jobs: tuple[Allocation, ...]


def size(instance: SmdInstance) -> dict[str, int]:
    """Return the counts that say how large an instance is."""
    return {"jobs": len(instance.jobs), "resources": len(instance.resources)}
