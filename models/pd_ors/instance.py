"""Instances and solutions: jobs that arrive over slots, and their workers and servers by slot."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.standards import ETHERNET_GBPS, PCI_EXPRESS_GBPS
from gadgetopt.pieces.utility import log_sigmoid, sigmoid
from gadgetopt.system.data import (
    MOST_SIZE,
    Data,
    Instance,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    PositiveSize,
    Solution,
)

from .terms import Terms

Amounts = tuple[NonNegativeFloat, ...]

#: More samples in a batch, hence workers at a time, than any job has; tables over them stay small.
MOST_WORKERS = 100_000
#: More slots than any horizon has, a year of hours; prices and rooms are kept for each.
MOST_SLOTS = 10_000
#: More passes or samples than any job has.
MOST_SAMPLES = 10**15

Count = Annotated[int, Field(gt=0, le=MOST_SAMPLES)]


class SlotSigmoid(Data):
    r"""Utility :math:`\theta_1 / (1 + e^{\theta_2 (d - \theta_3)})` of completing d slots late.

    Attributes
    ----------
    theta1 : float
        What the job is worth.
    theta2 : float
        How sharply that falls; 0 where time does not matter.
    theta3 : float
        Slots after arrival at which half of it is left.
    """

    kind: Literal["sigmoid"] = "sigmoid"
    theta1: PositiveFloat
    theta2: NonNegativeFloat
    theta3: NonNegativeFloat

    def over(self, delay_slots: Ints) -> Floats:
        """Return the utility of each delay; 0 where it is negligible."""
        return sigmoid(self.theta1, -self.theta2, self.theta3, delay_slots.astype(float))

    def log_at(self, delay_slots: int) -> float:
        """Return the natural logarithm of the utility, however small it is."""
        return log_sigmoid(self.theta1, -self.theta2, self.theta3, delay_slots)


class TableUtility(Data):
    """Utility of completing 0, 1, 2, ... slots after arrival; nothing after the last entry.

    Attributes
    ----------
    values : tuple of float
        Not increasing.
    """

    kind: Literal["table"] = "table"
    values: Annotated[tuple[NonNegativeFloat, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if any(b > a for a, b in zip(self.values, self.values[1:], strict=False)):
            raise ValueError("values: increase, expected a utility that does not grow with time")
        return self

    def over(self, delay_slots: Ints) -> Floats:
        """Return the utility of each delay."""
        table = np.array([*self.values, 0.0])
        return table[np.minimum(delay_slots, len(self.values))]

    def log_at(self, delay_slots: int) -> float:
        """Return the natural logarithm of the utility; minus infinity of nothing."""
        value = self.values[delay_slots] if delay_slots < len(self.values) else 0.0
        return float(np.log(value)) if value > 0 else float("-inf")


class Job(Data):
    """A training job with parameter servers that may be rescaled from slot to slot.

    Attributes
    ----------
    arrival_slot : int
        a_i, from 1; the slot of the arrival itself is usable.
    epochs, samples : int
        E_i passes over a data set of K_i samples.
    global_batch : int
        F_i, samples of an iteration, and the most workers at a time.
    sample_time_slots : float
        tau_i, slots for one sample on one worker.
    gradient_gbit : float
        g_i, Gbit of gradients, which is that of parameters.
    worker_ps_ratio : float
        gamma_i, workers per parameter server.
    bandwidth_internal_gbps, bandwidth_external_gbps : float
        Between a worker and a server on the same machine, and on different machines.
    worker_demand, ps_demand : tuple of float
        alpha_i^r, beta_i^r: what one worker and one parameter server take of each resource.
    utility : SlotSigmoid or TableUtility
        u_i of the slots from arrival to completion.
    """

    arrival_slot: PositiveInt
    epochs: Count
    samples: Count
    global_batch: Annotated[int, Field(gt=0, le=MOST_WORKERS)]
    sample_time_slots: PositiveSize
    gradient_gbit: Annotated[float, Field(ge=0, le=MOST_SIZE)]
    worker_ps_ratio: Annotated[float, Field(ge=1, le=MOST_SIZE)]
    bandwidth_internal_gbps: Annotated[PositiveSize, PCI_EXPRESS_GBPS]
    bandwidth_external_gbps: Annotated[PositiveSize, ETHERNET_GBPS]
    worker_demand: Amounts
    ps_demand: Amounts
    utility: Annotated[SlotSigmoid | TableUtility, Field(discriminator="kind")]
    name: str | None = None

    @model_validator(mode="after")
    def _check_bandwidth(self) -> Self:
        if self.bandwidth_internal_gbps < self.bandwidth_external_gbps:
            raise ValueError(
                f"bandwidth_internal_gbps: {self.bandwidth_internal_gbps} is less than "
                f"bandwidth_external_gbps, {self.bandwidth_external_gbps}"
            )
        return self


class Machine(Data):
    """A machine; its capacity is the same in every slot.

    Attributes
    ----------
    capacity : tuple of float
        C_h^r.
    """

    capacity: Amounts


class PdOrsInstance(Instance):
    """Machines, a horizon, and the jobs that arrive over it.

    Attributes
    ----------
    horizon_slots : int
        T; slots are numbered from 1.
    slot_s : float
        Length of a slot, by which Gbit per second become Gbit per slot.
    resources : tuple of str
    machines : tuple of Machine
    jobs : tuple of Job
    locality : "both", "external_only" or "internal_only"
        `both`: a job on one machine has the internal speed; `external_only`: no job has it;
        `internal_only`: no job is spread (variants, reconstructed).
    ratio : "at_least" or "exact"
        w workers need at least w / gamma_i servers, or exactly that many (reconstructed).
    """

    horizon_slots: Annotated[int, Field(gt=0, le=MOST_SLOTS)]
    slot_s: PositiveSize = 3600.0
    resources: Annotated[tuple[str, ...], Field(min_length=1)] = (
        "gpu",
        "vcpu",
        "memory_gb",
        "storage_gb",
    )
    machines: Annotated[tuple[Machine, ...], Field(min_length=1)]
    jobs: Annotated[tuple[Job, ...], Field(min_length=1)]
    locality: Literal["both", "external_only", "internal_only"] = "both"
    ratio: Literal["at_least", "exact"] = "at_least"

    @model_validator(mode="after")
    def _check(self) -> Self:
        wanted = len(self.resources)
        amounts = [(f"machines[{h}].capacity", m.capacity) for h, m in enumerate(self.machines)]
        for i, job in enumerate(self.jobs):
            amounts.append((f"jobs[{i}].worker_demand", job.worker_demand))
            amounts.append((f"jobs[{i}].ps_demand", job.ps_demand))
            if job.arrival_slot > self.horizon_slots:
                raise ValueError(
                    f"jobs[{i}].arrival_slot: {job.arrival_slot} is after the last slot, "
                    f"{self.horizon_slots}"
                )
        for where, given in amounts:
            if len(given) != wanted:
                raise ValueError(f"{where}: {len(given)} amounts for {wanted} resources")
        return self

    @cached_property
    def terms(self) -> Terms:
        """Derived constants of the jobs and integer amounts, computed once."""
        return Terms(self)


class Placement(Data):
    """Workers and servers of one job on one machine in a slot.

    Attributes
    ----------
    machine : int
        Number of the machine, from 0.
    workers, servers : int
        w_ih[t] and s_ih[t].
    """

    machine: NonNegativeInt
    workers: NonNegativeInt = 0
    servers: NonNegativeInt = 0


class SlotPlan(Data):
    """Placements of one job in one slot; machines with nothing are left out."""

    slot: PositiveInt
    placements: tuple[Placement, ...]


class PdOrsSolution(Solution):
    """For every job, in the instance's order, its slots with something in them.

    None is a job that is not accepted. The completion slot is the last one with a worker.
    """

    schedules: tuple[tuple[SlotPlan, ...] | None, ...]


def size(instance: PdOrsInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "jobs": len(instance.jobs),
        "machines": len(instance.machines),
        "slots": instance.horizon_slots,
        "resources": len(instance.resources),
    }
