"""Instances and solutions of GADGET: a network of servers, jobs over slots, and their rings."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gadgetopt.numbers.standards import ETHERNET_400_MBPS, ETHERNET_MBPS
from gadgetopt.system.data import (
    Data,
    Instance,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Solution,
)

from .terms import Terms
from .utility import Utility, ends_finite

Amounts = tuple[NonNegativeFloat, ...]

#: Limit on the Mbit/s of a link or a ring: sums fit 64 bits, and solvers accept the coefficients.
MOST_MBPS = 10**12
#: Limit on the worker-slots of one job, and so on the length of its table of utilities.
MOST_WORKER_SLOTS = 10**6

Mbps = Annotated[int, Field(ge=0, le=MOST_MBPS)]


class Server(Data):
    """A server of a two-tier cluster.

    Attributes
    ----------
    rack : int
    capacity : tuple of float
        C_s^r.
    access_mbps : int
        Bandwidth to the switch of its rack, in each direction.
    """

    rack: NonNegativeInt
    capacity: Amounts
    access_mbps: Annotated[Mbps, ETHERNET_MBPS]


class Rack(Data):
    """A rack's switch; `uplink_mbps` is the bandwidth to the core, in each direction."""

    uplink_mbps: Annotated[Mbps, ETHERNET_400_MBPS]


class TwoTier(Data):
    """Servers in racks under one core switch.

    Nodes are numbered: servers first, then rack switches, then the core.
    """

    kind: Literal["two_tier"] = "two_tier"
    servers: Annotated[tuple[Server, ...], Field(min_length=1)]
    racks: Annotated[tuple[Rack, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check_racks(self) -> Self:
        for s, server in enumerate(self.servers):
            if server.rack >= len(self.racks):
                raise ValueError(
                    f"servers[{s}].rack: {server.rack}, expected one of the {len(self.racks)} racks"
                )
        return self


class Node(Data):
    """A server, or a switch (no capacity).

    Attributes
    ----------
    capacity : tuple of float, optional
        C_s^r of a server.
    """

    capacity: Amounts | None = None
    name: str | None = None


class Link(Data):
    """A directed link between two nodes, given by their numbers."""

    source: NonNegativeInt
    target: NonNegativeInt
    mbps: Annotated[Mbps, ETHERNET_MBPS]


class Graph(Data):
    """Any network: nodes, numbered in the order listed, and directed links."""

    kind: Literal["graph"] = "graph"
    nodes: Annotated[tuple[Node, ...], Field(min_length=1)]
    links: tuple[Link, ...] = ()

    @model_validator(mode="after")
    def _check_links(self) -> Self:
        seen = set()
        for e, link in enumerate(self.links):
            for name in ("source", "target"):
                if getattr(link, name) >= len(self.nodes):
                    raise ValueError(
                        f"links[{e}].{name}: {getattr(link, name)}, expected one of the "
                        f"{len(self.nodes)} nodes"
                    )
            if link.source == link.target:
                raise ValueError(f"links[{e}].target: {link.target} is the source too")
            if (link.source, link.target) in seen:
                raise ValueError(f"links[{e}]: {link.source} to {link.target} occurs twice")
            seen.add((link.source, link.target))
        if all(node.capacity is None for node in self.nodes):
            raise ValueError("nodes: none with a capacity, expected at least one server")
        return self


class Job(Data):
    """A ring-all-reduce training job.

    Attributes
    ----------
    arrival_slot : int
        a_i, the first slot in which the job may run; slots count from 1.
    max_workers : int
        N_i, the size of the largest ring.
    worker_demand : tuple of float
        l_i^r of one worker.
    budget : tuple of float or None
        F_i^r over the whole horizon, in units of the resource times slots; None means no limit.
    max_worker_slots : int, optional
        A further limit, on worker-slots over the horizon.
    ring_bandwidth_mbps : int
        b_i, reserved by every hop of the ring between different servers.
    iterations_per_worker_slot : float
        zeta_i.
    utility : utility of iterations
        mu_i.
    """

    arrival_slot: PositiveInt
    max_workers: PositiveInt
    worker_demand: Amounts
    budget: tuple[NonNegativeFloat | None, ...] | None = None
    max_worker_slots: NonNegativeInt | None = None
    ring_bandwidth_mbps: Mbps
    iterations_per_worker_slot: PositiveFloat = 1.0
    utility: Utility
    name: str | None = None


class GadgetInstance(Instance):
    """A network, a horizon, and the jobs that arrive over it.

    Attributes
    ----------
    horizon_slots : int
        T; slots are numbered from 1.
    resources : tuple of str
    substrate : TwoTier or Graph
    jobs : tuple of Job
    """

    horizon_slots: PositiveInt
    resources: Annotated[tuple[str, ...], Field(min_length=1)] = ("gpu",)
    substrate: Annotated[TwoTier | Graph, Field(discriminator="kind")]
    jobs: Annotated[tuple[Job, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        wanted = len(self.resources)
        listed = self.substrate.servers if isinstance(self.substrate, TwoTier) else ()
        nodes = self.substrate.nodes if isinstance(self.substrate, Graph) else ()
        amounts = [(f"substrate.servers[{s}].capacity", x.capacity) for s, x in enumerate(listed)]
        amounts += [
            (f"substrate.nodes[{v}].capacity", x.capacity)
            for v, x in enumerate(nodes)
            if x.capacity is not None
        ]
        for i, job in enumerate(self.jobs):
            amounts.append((f"jobs[{i}].worker_demand", job.worker_demand))
            if job.budget is not None and len(job.budget) != wanted:
                raise ValueError(
                    f"jobs[{i}].budget: {len(job.budget)} amounts for {wanted} resources"
                )
            if not any(job.worker_demand):
                raise ValueError(f"jobs[{i}].worker_demand: all zero, expected a demand")
            if job.arrival_slot > self.horizon_slots:
                raise ValueError(
                    f"jobs[{i}].arrival_slot: {job.arrival_slot} is after the last slot, "
                    f"{self.horizon_slots}"
                )
            if job.max_workers * self.horizon_slots > MOST_WORKER_SLOTS:
                raise ValueError(
                    f"jobs[{i}].max_workers: {job.max_workers} over {self.horizon_slots} slots, "
                    f"expected at most {MOST_WORKER_SLOTS} worker-slots"
                )
            if not ends_finite(
                job.utility, job.iterations_per_worker_slot, job.max_workers * self.horizon_slots
            ):
                raise ValueError(
                    f"jobs[{i}].utility: larger than any double by the end of the horizon"
                )
        for where, given in amounts:
            if len(given) != wanted:
                raise ValueError(f"{where}: {len(given)} amounts for {wanted} resources")
        return self

    @cached_property
    def terms(self) -> Terms:
        """Derived constants: network as a graph, amounts in integer units, tables of utilities."""
        return Terms(self)


class Ring(Data):
    """The ring of one job in one slot.

    Attributes
    ----------
    slot, job : int
        Slots count from 1, jobs from 0.
    servers : tuple of int
        Node of every worker, in the order of the ring.
    routes : tuple of tuple of int, optional
        For every worker the nodes on the way to the next worker, both ends included; empty if both
        are on the same server or the ring has one worker. On a two-tier cluster paths are unique
        and routes may be omitted.
    """

    slot: PositiveInt
    job: NonNegativeInt
    servers: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)]
    routes: tuple[tuple[NonNegativeInt, ...], ...] | None = None


class GadgetSolution(Solution):
    """All rings, in any order."""

    rings: tuple[Ring, ...]


def size(instance: GadgetInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    substrate = instance.substrate
    if isinstance(substrate, TwoTier):
        servers, links = len(substrate.servers), 2 * (len(substrate.servers) + len(substrate.racks))
    else:
        servers = sum(node.capacity is not None for node in substrate.nodes)
        links = len(substrate.links)
    return {
        "jobs": len(instance.jobs),
        "servers": servers,
        "links": links,
        "slots": instance.horizon_slots,
    }
