"""Servers in racks, jobs of several tasks, and how much jobs on one server slow each other down."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.system.data import (
    Data,
    Instance,
    NonNegativeInt,
    NonNegativeRational,
    PositiveInt,
    PositiveRational,
    without,
)

#: Most GPUs or CPUs of a server, and most of either that a task needs. By definition.
MOST_UNITS = 10**6
#: Most iterations of a job: whole numbers up to this are exact as doubles. By definition.
MOST_ITERATIONS = 10**15
Units = Annotated[NonNegativeInt, Field(le=MOST_UNITS)]


class Server(Data):
    """One server.

    Attributes
    ----------
    gpus, cpus : int
        G_s and U_s.
    rack : int
        r(s).
    board : int
        Of the instance's boards, if it has any.
    address : tuple of int
        In the instance's network, if it has one.
    """

    gpus: Units
    cpus: Units
    rack: NonNegativeInt = 0
    board: NonNegativeInt = 0
    address: tuple[NonNegativeInt, ...] = ()

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write no board or address that is not there: files from before them stay the same."""
        return without(write(self), self, "board", "address")


class Job(Data):
    """A training job of several tasks, all of which run or none.

    Attributes
    ----------
    type : int
        Row of the job in the table of interference.
    num_tasks : int
        n_j.
    gpus_per_task, cpus_per_task : int
        g_j and u_j.
    iterations : int
        W_j.
    base_iteration_s : Rational
        t^0_j: time of an iteration on one server, alone.
    rack_comm_s, cross_comm_s : Rational
        beta^rack_j and beta^cross_j: what an iteration takes longer if the job lies on several
        servers of one rack, and on several racks.
    arrival_s : Rational
        a_j.
    gradient_gbytes : Rational
        h_j: what its GPUs have to add up in every iteration; see `architecture`.
    name : str
    """

    type: NonNegativeInt
    num_tasks: PositiveInt
    gpus_per_task: Units
    cpus_per_task: Units
    iterations: Annotated[PositiveInt, Field(le=MOST_ITERATIONS)]
    base_iteration_s: PositiveRational
    rack_comm_s: NonNegativeRational = Fraction(0)
    cross_comm_s: NonNegativeRational = Fraction(0)
    arrival_s: NonNegativeRational = Fraction(0)
    gradient_gbytes: NonNegativeRational = Fraction(0)
    name: str = ""

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write no gradients if there are none: files from before them stay the same."""
        return without(write(self), self, "gradient_gbytes")

    @model_validator(mode="after")
    def _crossing_racks_takes_longer(self) -> Self:
        if self.cross_comm_s < self.rack_comm_s:
            raise ValueError(
                f"cross_comm_s: {self.cross_comm_s}, expected no less than rack_comm_s, "
                f"{self.rack_comm_s}"
            )
        return self


class Measured(Data):
    """The slowdown of a job among certain neighbours, measured; it replaces the sum.

    Attributes
    ----------
    victim : int
        Type of the job.
    neighbours : tuple of int, shape (types,)
        How many other jobs of each type are on the server; with `per_task`, how many tasks of them.
    slowdown : Rational
        Relative: 0.5 if an iteration takes one and a half times as long as alone.
    """

    victim: NonNegativeInt
    neighbours: tuple[NonNegativeInt, ...]
    slowdown: NonNegativeRational


class ClusterInstance(Instance):
    """The cluster and its jobs; the fields that both problems have.

    Attributes
    ----------
    servers : tuple of Server
    jobs : tuple of Job
    interference : tuple of tuple of Rational, shape (types, types)
        alpha: the row is the victim, the column who disturbs it. The slowdown of a job on a server
        is the sum over the other jobs there.
    per_task : bool
        True if every task of another job counts, and not only whether there is one.
    measured : tuple of Measured
        Neighbours among which the slowdown is not the sum.
    """

    servers: Annotated[tuple[Server, ...], Field(min_length=1)]
    jobs: tuple[Job, ...]
    interference: Annotated[tuple[tuple[NonNegativeRational, ...], ...], Field(min_length=1)]
    per_task: bool = False
    measured: tuple[Measured, ...] = ()

    @property
    def num_types(self) -> int:
        """Types of jobs that the table knows."""
        return len(self.interference)

    @property
    def additive(self) -> bool:
        """True if every slowdown is the sum of the table's entries."""
        return not self.measured

    @cached_property
    def num_tasks(self) -> int:
        """Tasks of all jobs."""
        return sum(job.num_tasks for job in self.jobs)

    @cached_property
    def total_gpus(self) -> int:
        """GPUs of all servers."""
        return sum(server.gpus for server in self.servers)

    @cached_property
    def total_cpus(self) -> int:
        """CPUs of all servers."""
        return sum(server.cpus for server in self.servers)

    @cached_property
    def server_classes(self) -> dict[Server, tuple[int, ...]]:
        """Servers that are alike: the same rack, GPUs and CPUs; in the order of the servers."""
        alike: dict[Server, list[int]] = {}
        for s, server in enumerate(self.servers):
            alike.setdefault(server, []).append(s)
        return {server: tuple(members) for server, members in alike.items()}

    @cached_property
    def racks(self) -> tuple[int, ...]:
        """Racks that have a server, in ascending order."""
        return tuple(sorted({server.rack for server in self.servers}))

    @cached_property
    def alpha(self) -> Floats:
        """The table of interference as doubles, shape (types, types)."""
        return np.array([[float(a) for a in row] for row in self.interference])

    @cached_property
    def alpha_scale(self) -> int:
        """Least whole number that makes all slowdowns whole."""
        entries = [a for row in self.interference for a in row]
        return common_denominator([*entries, *(m.slowdown for m in self.measured)])

    @cached_property
    def measured_slowdowns(self) -> dict[tuple[int, tuple[int, ...]], Fraction]:
        """Slowdowns that are not the sum, by victim and neighbours."""
        return {(m.victim, m.neighbours): m.slowdown for m in self.measured}

    @cached_property
    def gpus(self) -> Ints:
        """G_s, shape (servers,)."""
        return np.array([server.gpus for server in self.servers], dtype=np.int64)

    @cached_property
    def cpus(self) -> Ints:
        """U_s, shape (servers,)."""
        return np.array([server.cpus for server in self.servers], dtype=np.int64)

    def most_tasks(self, job: int, server: int) -> int:
        """Return how many tasks of a job an empty server holds."""
        return tasks_that_fit(self.jobs[job], self.servers[server])

    @model_validator(mode="after")
    def _table_is_square(self) -> Self:
        for i, row in enumerate(self.interference):
            if len(row) != self.num_types:
                raise ValueError(
                    f"interference[{i}]: {len(row)} entries, expected {self.num_types}, "
                    "one for every type"
                )
        return self

    @model_validator(mode="after")
    def _measured_are_of_known_types(self) -> Self:
        known: set[tuple[int, tuple[int, ...]]] = set()
        for i, m in enumerate(self.measured):
            if m.victim >= self.num_types:
                raise ValueError(
                    f"measured[{i}].victim: {m.victim}, expected less than the "
                    f"{self.num_types} types"
                )
            if len(m.neighbours) != self.num_types:
                raise ValueError(
                    f"measured[{i}].neighbours: {len(m.neighbours)} entries, expected "
                    f"{self.num_types}, one for every type"
                )
            if not any(m.neighbours):
                raise ValueError(f"measured[{i}].neighbours: there are none, expected at least one")
            if (m.victim, m.neighbours) in known:
                raise ValueError(f"measured[{i}]: the same victim and neighbours a second time")
            known.add((m.victim, m.neighbours))
        return self

    @model_validator(mode="after")
    def _every_job_fits_alone(self) -> Self:
        kinds = Counter((server.gpus, server.cpus) for server in self.servers)
        room_of: dict[tuple[int, int], int] = {}
        for j, job in enumerate(self.jobs):
            if job.type >= self.num_types:
                raise ValueError(
                    f"jobs[{j}].type: {job.type}, expected less than the {self.num_types} types"
                )
            demand = (job.gpus_per_task, job.cpus_per_task)
            if demand == (0, 0):
                continue
            if demand not in room_of:
                room_of[demand] = sum(
                    number * tasks_that_fit(job, Server(gpus=gpus, cpus=cpus), limited=False)
                    for (gpus, cpus), number in kinds.items()
                )
            if job.num_tasks > room_of[demand]:
                raise ValueError(
                    f"jobs[{j}].num_tasks: {job.num_tasks}, but the empty cluster has room for "
                    f"{room_of[demand]} such tasks"
                )
        return self


def tasks_that_fit(job: Job, server: Server, *, limited: bool = True) -> int:
    """Return how many tasks of a job an empty server holds; not `limited`, of any such job."""
    rooms = [
        have // need
        for have, need in (
            (server.gpus, job.gpus_per_task),
            (server.cpus, job.cpus_per_task),
        )
        if need
    ]
    if limited or not rooms:
        rooms.append(job.num_tasks)
    return min(rooms)


def forced_comm_s(job: Job, classes: dict[Server, int]) -> Fraction:
    """Return what an iteration of a job takes longer on the empty cluster, at least."""
    rooms: Counter[int] = Counter()
    together = False
    for server, number in classes.items():
        room = tasks_that_fit(job, server)
        together = together or room == job.num_tasks
        rooms[server.rack] += number * room
    if together:
        return Fraction(0)
    return job.rack_comm_s if max(rooms.values()) >= job.num_tasks else job.cross_comm_s


def size(instance: ClusterInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "jobs": len(instance.jobs),
        "tasks": instance.num_tasks,
        "servers": len(instance.servers),
        "racks": len(instance.racks),
        "types": instance.num_types,
    }
