"""Instances and solutions: a cluster, jobs that arrive over time, and when and where each runs."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.standards import ETHERNET_GBYTES_PER_S, PCI_EXPRESS_GBYTES_PER_S, Called
from gadgetopt.pieces.knapsack.bins import Blocks, blocks_of, fit
from gadgetopt.system.data import (
    Data,
    Instance,
    NonNegativeInt,
    NonNegativeRational,
    PositiveInt,
    PositiveRational,
    Rational,
    Solution,
    without,
)

from .iteration_time import MappingTimes, mapping_times
from .mapping import fastest_mapping, servers_worth_using

#: Objectives in weighted microticks stay below this, so that arrays of 64 bits hold them.
MOST_WEIGHTED_MICROTICKS = 2**62


class JobType(Data):
    """A training configuration: a pipeline of stages, each copied on one or more GPUs.

    With tensor parallelism a replica is a block of several GPUs of one server, which share its
    layers; stages may have blocks of different sizes.

    Attributes
    ----------
    replicas : tuple of int, shape (stages,)
        k_s: replicas of each stage, each on a GPU or a block of GPUs.
    stage_time_s : tuple of Rational, shape (stages,)
        p_s: forward and backward compute of one replica per iteration.
    activation_gbytes : tuple of Rational, shape (stages - 1,)
        A_s: activations from stage s to s + 1 per iteration, all replicas together; gradients of
        the same volume return.
    gradient_gbytes : tuple of Rational, shape (stages,)
        h_s: gradients of one replica, all-reduced over the stage.
    pipeline_factor : Rational
        phi >= 1: (Q + S - 1) / Q for Q micro-batches.
    tp_block : int
        t: GPUs of a replica, of every stage that is not said otherwise.
    tp_blocks : tuple of int, shape (stages,)
        t_s: GPUs of a replica of each stage; empty if all have `tp_block`.
    tp_gbytes : tuple of Rational, shape (stages,)
        What every GPU of a block sends to the others per iteration, 0 where t_s is 1; empty if all
        are.
    name : str
        Of the network, for example.
    """

    replicas: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
    stage_time_s: tuple[NonNegativeRational, ...]
    activation_gbytes: tuple[NonNegativeRational, ...] = ()
    gradient_gbytes: tuple[NonNegativeRational, ...]
    pipeline_factor: Annotated[Rational, Field(ge=1)] = Fraction(1)
    tp_block: PositiveInt = 1
    tp_blocks: tuple[PositiveInt, ...] = ()
    tp_gbytes: tuple[NonNegativeRational, ...] = ()
    name: str = ""

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write no blocks if there are none: files from before them stay the same."""
        return without(write(self), self, "tp_block", "tp_blocks", "tp_gbytes")

    @property
    def block_of_stage(self) -> tuple[int, ...]:
        """t_s: GPUs of a replica of each stage, shape (stages,)."""
        return self.tp_blocks or (self.tp_block,) * len(self.replicas)

    @property
    def blocks(self) -> Blocks:
        """Sizes of the job's blocks and their numbers, the largest first."""
        return blocks_of(self.block_of_stage, self.replicas)

    @property
    def block_unit(self) -> int:
        """GPUs by which all blocks of the job can be counted: t if all stages have the same."""
        return math.gcd(*self.block_of_stage)

    @property
    def num_gpus(self) -> int:
        """g: GPUs of the job."""
        return sum(t * r for t, r in zip(self.block_of_stage, self.replicas, strict=True))

    @model_validator(mode="after")
    def _one_entry_a_stage(self) -> Self:
        stages = len(self.replicas)
        if self.tp_blocks and len(self.tp_blocks) != stages:
            raise ValueError(
                f"tp_blocks: {len(self.tp_blocks)} entries, expected {stages}, one a stage, or none"
            )
        largest = max(self.block_of_stage)
        blocks = f"tp_blocks of up to {largest}" if self.tp_blocks else f"a tp_block of {largest}"
        for field, expected in (
            ("stage_time_s", stages),
            ("activation_gbytes", stages - 1),
            ("gradient_gbytes", stages),
            ("tp_gbytes", stages if largest > 1 else 0),
        ):
            if len(getattr(self, field)) != expected:
                raise ValueError(
                    f"{field}: {len(getattr(self, field))} entries, expected {expected} "
                    f"for {stages} stages" + (f" and {blocks}" if field == "tp_gbytes" else "")
                )
        for s, (sent, block) in enumerate(zip(self.tp_gbytes, self.block_of_stage, strict=False)):
            if sent and block == 1:
                raise ValueError(f"tp_gbytes[{s}]: {sent}, expected 0 for a stage of single GPUs")
        return self


class Job(Data):
    """One training job.

    Attributes
    ----------
    job_type : int
        Index into `job_types`.
    release_tick : int
        r_j.
    num_iterations : int
        n_j, which is known when the job is over.
    predicted_iterations : int or None
        A prediction that comes with the instance.
    weight : Rational
        w_j.
    group_id, user_id : int
        Recurrence key and user, -1 if unknown.
    batch_size : int or None
        Samples of an iteration.
    name : str
    """

    job_type: NonNegativeInt
    release_tick: NonNegativeInt = 0
    num_iterations: PositiveInt
    predicted_iterations: PositiveInt | None = None
    weight: PositiveRational = Fraction(1)
    group_id: Annotated[int, Field(ge=-1)] = -1
    user_id: Annotated[int, Field(ge=-1)] = -1
    batch_size: PositiveInt | None = None
    name: str = ""


class ASrptInstance(Instance):
    """A cluster of GPU servers and the jobs that arrive over time.

    Attributes
    ----------
    gpus_per_server : tuple of int, shape (servers,)
        c_m.
    intra_bandwidth_gbytes_per_s : Rational
        B^in: between the GPUs of a server, per GPU.
    nic_bandwidth_gbytes_per_s : Rational
        B^nic: network of a server.
    nic_share : "per_gpu" or "full"
        Whether a GPU gets an equal share of the largest server's network, or all of it.
    tick_s : Rational
        Length of a tick. A microtick is 1 / `total_gpus` of it.
    job_types : tuple of JobType
    jobs : tuple of Job
    """

    gpus_per_server: Annotated[tuple[PositiveInt, ...], Field(min_length=1), Called("servers")]
    intra_bandwidth_gbytes_per_s: Annotated[PositiveRational, PCI_EXPRESS_GBYTES_PER_S]
    nic_bandwidth_gbytes_per_s: Annotated[PositiveRational, ETHERNET_GBYTES_PER_S]
    nic_share: Literal["per_gpu", "full"] = "per_gpu"
    tick_s: PositiveRational = Fraction(1)
    job_types: Annotated[tuple[JobType, ...], Field(min_length=1)]
    jobs: Annotated[tuple[Job, ...], Field(min_length=1)]

    @property
    def num_servers(self) -> int:
        """M."""
        return len(self.gpus_per_server)

    @cached_property
    def total_gpus(self) -> int:
        """G: GPUs of the cluster, and microticks of a tick."""
        return sum(self.gpus_per_server)

    @cached_property
    def largest_server(self) -> int:
        """GPUs of the largest server."""
        return max(self.gpus_per_server)

    @property
    def inter_bandwidth_gbytes_per_s(self) -> Fraction:
        """b: bandwidth between servers that one GPU sees."""
        share = self.largest_server if self.nic_share == "per_gpu" else 1
        return self.nic_bandwidth_gbytes_per_s / share

    @cached_property
    def times(self) -> tuple[MappingTimes, ...]:
        """Table of per-iteration times of every job type."""
        intra, inter = self.intra_bandwidth_gbytes_per_s, self.inter_bandwidth_gbytes_per_s
        return tuple(mapping_times(job_type, intra, inter) for job_type in self.job_types)

    @cached_property
    def shortest_units(self) -> tuple[int, ...]:
        """Of every job type: alpha^min, its time on the empty cluster, in units of `times`.

        For a type that fits on no server and is too large to map optimally, a lower bound.
        """
        largest_first = sorted(self.gpus_per_server, reverse=True)
        shortest = []
        for times, job_type in zip(self.times, self.job_types, strict=True):
            needed, room = times.room, [c // job_type.block_unit for c in largest_first]
            worth = room[: servers_worth_using(needed, room)]
            shortest.append(
                times.together if needed <= worth[0] else fastest_mapping(times, worth).bound
            )
        return tuple(shortest)

    @cached_property
    def alpha_min_s(self) -> tuple[Fraction, ...]:
        """alpha^min of every job type, or a lower bound of it: see `shortest_units`."""
        return tuple(t.seconds(u) for t, u in zip(self.times, self.shortest_units, strict=True))

    @cached_property
    def release_ticks(self) -> Ints:
        """r_j, shape (jobs,)."""
        return np.array([job.release_tick for job in self.jobs], dtype=np.int64)

    @cached_property
    def gpus(self) -> Ints:
        """g_j, shape (jobs,)."""
        of_type = [job_type.num_gpus for job_type in self.job_types]
        return np.array([of_type[job.job_type] for job in self.jobs], dtype=np.int64)

    @cached_property
    def min_ticks(self) -> Ints:
        """d_j at alpha^min, shape (jobs,)."""
        return self._ticks(self.shortest_units)

    @cached_property
    def max_ticks(self) -> Ints:
        """d_j at alpha^max, shape (jobs,)."""
        return self._ticks(tuple(times.longest for times in self.times))

    @cached_property
    def weight_scale(self) -> int:
        """Least whole number that makes all weights whole."""
        return math.lcm(*{job.weight.denominator for job in self.jobs})

    @cached_property
    def whole_weights(self) -> Ints:
        """w_j times `weight_scale`, shape (jobs,)."""
        scale = self.weight_scale
        return np.array([int(job.weight * scale) for job in self.jobs], dtype=np.int64)

    def ticks(self, job: int, units: int) -> int:
        """Return d_j at a per-iteration time in units of the job type's table."""
        given = self.jobs[job]
        return self.times[given.job_type].ticks(units, given.num_iterations, self.tick_s)

    def _ticks(self, units: tuple[int, ...]) -> Ints:
        return np.array(
            [self.ticks(j, units[job.job_type]) for j, job in enumerate(self.jobs)], dtype=np.int64
        )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        inter, intra = self.inter_bandwidth_gbytes_per_s, self.intra_bandwidth_gbytes_per_s
        if inter > intra:
            raise ValueError(
                f"nic_bandwidth_gbytes_per_s: a GPU sees {inter} GB/s between servers, "
                f"expected no more than the {intra} GB/s within a server"
            )
        types, total = len(self.job_types), self.total_gpus
        for j, job in enumerate(self.jobs):
            if job.job_type >= types:
                raise ValueError(
                    f"jobs[{j}].job_type: {job.job_type}, expected less than the {types} job types"
                )
            job_type = self.job_types[job.job_type]
            gpus = job_type.num_gpus
            if gpus > total:
                raise ValueError(f"jobs[{j}]: needs {gpus} GPUs, but the cluster has {total}")
            if not fit(job_type.blocks, self.gpus_per_server):
                raise ValueError(f"jobs[{j}]: {self._no_room(job_type)}")
        latest = max(job.release_tick for job in self.jobs)
        horizon = latest + sum(
            self.ticks(j, self.times[job.job_type].longest) for j, job in enumerate(self.jobs)
        )
        weights = sum(job.weight for job in self.jobs) * self.weight_scale
        if horizon * total * weights > MOST_WEIGHTED_MICROTICKS:
            raise ValueError(
                f"tick_s: all jobs one after the other take {horizon} ticks, too many to add up "
                "in 64 bits (use longer ticks)"
            )
        return self

    def _no_room(self, job_type: JobType) -> str:
        """Return why the blocks of a job type fit on no servers of the cluster."""
        block, number = job_type.blocks[0]
        if len(job_type.blocks) == 1:
            room = sum(c // block for c in self.gpus_per_server)
            return f"needs {number} blocks of {block} GPUs, but the servers have room for {room}"
        if block > self.largest_server:
            return (
                f"needs a block of {block} GPUs, but no server has more than {self.largest_server}"
            )
        needs = " and ".join(f"{r} of {t}" for t, r in job_type.blocks)
        return f"needs blocks of GPUs, {needs}, for which the servers together have no room"


class ScheduledJob(Data):
    """Start and mapping of one job.

    Attributes
    ----------
    job : int
        Index into the instance's `jobs`.
    start_microtick : int
        S_j; a tick has as many microticks as the cluster has GPUs.
    placement : tuple, shape (stages,)
        Of every stage the pairs (server, replicas there), each server once, none with 0 replicas.
        A replica of stage s holds t_s GPUs, `tp_block` unless the stage has its own.
    """

    job: NonNegativeInt
    start_microtick: NonNegativeInt
    placement: tuple[tuple[tuple[NonNegativeInt, PositiveInt], ...], ...]


class ASrptSolution(Solution):
    """A schedule: every job once, in any order.

    Attributes
    ----------
    jobs : tuple of ScheduledJob
    predictor : str or None
        What predicted the numbers of iterations, if the schedule was found with predictions.
    """

    jobs: tuple[ScheduledJob, ...]
    predictor: str | None = None


def size(instance: ASrptInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "jobs": len(instance.jobs),
        "job_types": len(instance.job_types),
        "servers": instance.num_servers,
        "gpus": instance.total_gpus,
        "largest_job_gpus": int(instance.gpus.max()),
    }
