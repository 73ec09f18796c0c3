r"""Derived constants: network as a graph, amounts in integer units, tables of utilities.

Training is counted in worker-slots: z worker-slots are :math:`\zeta_i z` iterations, and
:math:`u_i(z) = \mu_i(\zeta_i z)` is tabulated. A worker can be removed from any ring, so the table
ends where more training gains nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.numbers.units import in_units

from .utility import utility_of_worker_slots

if TYPE_CHECKING:
    from .instance import GadgetInstance, TwoTier


@dataclass(frozen=True)
class Tree:
    """A two-tier cluster as arrays.

    Attributes
    ----------
    rack : array of int, shape (servers,)
    access, uplink : array of int, shapes (servers,) and (racks,)
        Mbit/s in each direction.
    """

    rack: Ints
    access: Ints
    uplink: Ints


@dataclass(frozen=True)
class JobTerms:
    """Constants of one job.

    Attributes
    ----------
    index : int
    arrival : int
        a_i.
    bandwidth : int
        b_i, Mbit/s.
    demand : array of int, shape (resources,)
        l_i^r in units.
    per_server : array of int, shape (servers,)
        Workers that fit on each empty server, at most N_i.
    max_ring : int
        The largest number of workers at a time, by N_i and by what fits on all servers together.
    max_total : int
        Worker-slots beyond which training gains nothing, exceeds K_i or is impossible.
    utility : array, shape (max_total + 1,)
        u_i; non-decreasing.
    """

    index: int
    arrival: int
    bandwidth: int
    demand: Ints
    per_server: Ints
    max_ring: int
    max_total: int
    utility: Floats


class Terms:
    """Derived constants of an instance, for methods but not for the evaluator.

    Attributes
    ----------
    horizon : int
        T.
    num_nodes : int
    servers : tuple of int
        The server nodes; arrays over servers are in this order. On two-tier clusters server s is
        node s.
    links : array of int, shape (links, 2)
        Source and target.
    link_mbps : array of int, shape (links,)
    tree : Tree or None
        The network as a two-tier cluster, if it is one.
    unit : tuple of Fraction
        The amount of each resource that is counted as 1.
    capacity : array of int, shape (servers, resources)
        C_s^r in units.
    jobs : tuple of JobTerms
    same_demand : bool
        True if the workers of all jobs have equal demands.

    Raises
    ------
    ModelRefused
        If the amounts of a resource have no common unit of reasonable size.
    """

    num_nodes: int
    unit: tuple[Fraction, ...]

    def __init__(self, instance: GadgetInstance):
        self.horizon: int = instance.horizon_slots
        substrate = instance.substrate
        self.tree: Tree | None = None
        if substrate.kind == "two_tier":
            self.num_nodes, links, mbps, self.tree = _tree(substrate)
            self.servers: tuple[int, ...] = tuple(range(len(substrate.servers)))
            rows = [server.capacity for server in substrate.servers]
        else:
            self.num_nodes = len(substrate.nodes)
            listed = [(v, n.capacity) for v, n in enumerate(substrate.nodes) if n.capacity]
            self.servers = tuple(v for v, _ in listed)
            rows = [capacity for _, capacity in listed]
            links = [(link.source, link.target) for link in substrate.links]
            mbps = [link.mbps for link in substrate.links]
        self.links: Ints = np.array(links, dtype=np.int64).reshape(-1, 2)
        self.link_mbps: Ints = np.array(mbps, dtype=np.int64)
        rows = [*rows, *(job.worker_demand for job in instance.jobs)]
        self.unit, table = in_units(instance.resources, rows)
        servers = len(self.servers)
        self.capacity: Ints = table[:servers]
        self.jobs: tuple[JobTerms, ...] = tuple(
            self._job(instance, i, demand) for i, demand in enumerate(table[servers:])
        )
        self.same_demand: bool = bool((table[servers:] == table[servers]).all())

    def _job(self, instance: GadgetInstance, index: int, demand: Ints) -> JobTerms:
        job = instance.jobs[index]
        per_server = np.full(len(self.servers), job.max_workers, dtype=np.int64)
        for r in np.flatnonzero(demand):
            per_server = np.minimum(per_server, self.capacity[:, r] // demand[r])
        max_ring = min(job.max_workers, int(per_server.sum()))
        most = max_ring * (self.horizon - job.arrival_slot + 1)
        if job.max_worker_slots is not None:
            most = min(most, job.max_worker_slots)
        budgets = zip(job.budget or (), job.worker_demand, strict=False)
        for budget, each in budgets:
            if budget is not None and each > 0:
                most = min(most, math.floor(decimal_rational(budget) / decimal_rational(each)))
        utility = utility_of_worker_slots(job.utility, job.iterations_per_worker_slot, most)
        # The first maximum: beyond it, surplus workers are removed.
        max_total = int(np.argmax(utility))
        return JobTerms(
            index=index,
            arrival=job.arrival_slot,
            bandwidth=job.ring_bandwidth_mbps,
            demand=demand,
            per_server=per_server,
            max_ring=min(max_ring, max_total),
            max_total=max_total,
            utility=utility[: max_total + 1],
        )


def _tree(cluster: TwoTier) -> tuple[int, list[tuple[int, int]], list[int], Tree]:
    """Return nodes, links, bandwidths and arrays of a two-tier cluster."""
    servers, racks = len(cluster.servers), len(cluster.racks)
    core = servers + racks
    links, mbps = [], []
    for s, server in enumerate(cluster.servers):
        links += [(s, servers + server.rack), (servers + server.rack, s)]
        mbps += [server.access_mbps] * 2
    for k, rack in enumerate(cluster.racks):
        links += [(servers + k, core), (core, servers + k)]
        mbps += [rack.uplink_mbps] * 2
    tree = Tree(
        rack=np.array([server.rack for server in cluster.servers]),
        access=np.array([server.access_mbps for server in cluster.servers]),
        uplink=np.array([rack.uplink_mbps for rack in cluster.racks]),
    )
    return core + 1, links, mbps, tree
