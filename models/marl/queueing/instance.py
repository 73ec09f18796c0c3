"""Instances and solutions: jobs that arrive over time, and what lies where in every slot."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterator
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from gadgetopt.system.data import (
    Data,
    NonNegativeInt,
    PositiveInt,
    PositiveRational,
    Solution,
    without,
)

from ..subproblems.architecture import BoardedInstance, Network
from ..subproblems.cluster import forced_comm_s, tasks_that_fit
from ..subproblems.cluster import size as cluster_size

#: Most slots of an instance.
MOST_SLOTS = 10**6


class QueueingInstance(BoardedInstance):
    """A cluster, jobs that arrive over time, and the slots in which they may run.

    Attributes
    ----------
    slot_s : Rational
        Delta: length of a slot. Slot k begins at k times this.
    num_slots : int
        All jobs have to be finished by the end of the last slot.
    migration : bool
        True if a job may lie elsewhere in every slot, or wait again; else it stays where it starts
        until it is finished.
    network : Network, optional
        It takes the place of `rack_comm_s` and `cross_comm_s`.
    """

    slot_s: PositiveRational
    num_slots: Annotated[PositiveInt, Field(le=MOST_SLOTS)]
    migration: bool = True
    network: Network | None = None

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write no boards or network if there are none: files from before them stay the same."""
        return without(write(self), self, "boards", "network")

    @property
    def has_architecture(self) -> bool:
        """True if there are boards, or a network."""
        return bool(self.boards) or self.network is not None

    def span_s(self, j: int, level: int) -> Fraction:
        """Return beta_j(L): 0 for one server, 1 for a rack, and so on."""
        job, network = self.jobs[j], self.network
        if network is None:
            return (Fraction(0), job.rack_comm_s, job.cross_comm_s)[level]
        if level == 0:
            return Fraction(0)
        sent_s = self.rings_gbytes[j] * network.oversubscription[level - 1] / network.nic_gbytes_s
        steps = 2 * max(0, job.num_tasks * job.gpus_per_task - 1)
        return sent_s + steps * network.hops[level - 1] * network.hop_s

    def level(self, s: int, other: int) -> int:
        """Return how far two different servers are from each other."""
        here, there = self.servers[s], self.servers[other]
        if self.network is None:
            return 1 if here.rack == there.rack else 2
        return self.network.level(here.address, there.address)

    def span(self, servers: Collection[int]) -> int:
        """Return the level of those of some servers that are farthest from each other."""
        if len(servers) < 2:
            return 0
        if self.network is None:
            return 1 + (len({self.servers[s].rack for s in servers}) > 1)
        addresses = sorted({self.servers[s].address for s in servers})
        pairs = itertools.combinations(addresses, 2)
        return max((self.network.level(*pair) for pair in pairs), default=1)

    @cached_property
    def least_comm_s(self) -> tuple[Fraction, ...]:
        """What an iteration of each job takes longer on the empty cluster, at least."""
        if not self.has_architecture:
            classes = {server: len(members) for server, members in self.server_classes.items()}
            return tuple(forced_comm_s(job, classes) for job in self.jobs)
        return tuple(min(self._forced_s(j), default=Fraction(0)) for j in range(len(self.jobs)))

    def _forced_s(self, j: int) -> Iterator[Fraction]:
        """Yield what a job pays on each kind of server that holds all of it, and on several."""
        job = self.jobs[j]
        gpus = job.num_tasks * job.gpus_per_task
        rooms: Counter[object] = Counter()
        for server, members in self.server_classes.items():
            room = tasks_that_fit(job, server)
            rooms[server.rack if self.network is None else server.address] += room * len(members)
            if room == job.num_tasks:
                ring = self.boards[server.board].fastest_gbytes_s[gpus:][:1] if self.boards else ()
                yield self.rings_gbytes[j] / ring[0] if ring and ring[0] else Fraction(0)
        if job.num_tasks > 1 and len(self.servers) > 1:
            cube = self.network is not None and self.network.kind == "cube"
            near = cube or max(rooms.values()) >= job.num_tasks
            yield self.span_s(j, 1 if near else 2)

    @cached_property
    def first_slots(self) -> tuple[int, ...]:
        """The first slot that begins no earlier than each job's arrival."""
        slots = [job.arrival_s / self.slot_s for job in self.jobs]
        return tuple(-(-slot.numerator // slot.denominator) for slot in slots)

    @model_validator(mode="after")
    def _servers_have_addresses_in_the_network(self) -> Self:
        digits = 0 if self.network is None else self.network.digits
        for s, server in enumerate(self.servers):
            if len(server.address) != digits:
                raise ValueError(
                    f"servers[{s}].address: {len(server.address)} digits, expected {digits}"
                )
        if self.network is None:
            return self
        addresses = [server.address for server in self.servers]
        if self.network.kind == "cube" and len(set(addresses)) < len(addresses):
            raise ValueError("servers: two have one address, expected none in a cube")
        for j, job in enumerate(self.jobs):
            if job.cross_comm_s:
                raise ValueError(
                    f"jobs[{j}].cross_comm_s: {job.cross_comm_s}, expected 0 as there is a network"
                )
        return self

    @model_validator(mode="after")
    def _jobs_arrive_before_the_last_slot(self) -> Self:
        for j, slot in enumerate(self.first_slots):
            if slot >= self.num_slots:
                raise ValueError(
                    f"jobs[{j}].arrival_s: {self.jobs[j].arrival_s}, expected no later than the "
                    f"beginning of the last of the {self.num_slots} slots"
                )
        return self


class Running(Data):
    """A job that runs in a slot.

    Attributes
    ----------
    job : int
    tasks : tuple
        Pairs (server, number of the job's tasks there), each server at most once.
    gpus : tuple
        With boards: of each pair the GPUs that the tasks have there. A solution that names none
        leaves it to `subproblems/seats.py`.
    """

    job: NonNegativeInt
    tasks: Annotated[tuple[tuple[NonNegativeInt, PositiveInt], ...], Field(min_length=1)]
    gpus: tuple[tuple[NonNegativeInt, ...], ...] = ()

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write no GPUs if none are named: files from before them stay the same."""
        return without(write(self), self, "gpus")


class QueueingSolution(Solution):
    """The jobs that run in each slot and where.

    Attributes
    ----------
    slots : tuple of tuple of Running
        From slot 0 on; nothing runs in the slots after the last one given.
    """

    slots: tuple[tuple[Running, ...], ...]


def size(instance: QueueingInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {**cluster_size(instance), "slots": instance.num_slots}
