r"""Pricing of rings: the cheapest ring of every job and size on a two-tier cluster.

With prices :math:`\nu` of resources, :math:`\eta_s` of access links and :math:`\xi_k` of uplinks, n
workers on server s cost :math:`n \, l_i^\top \nu_s`, plus :math:`b_i \eta_s` if the ring leaves the
server. Three dynamic programs over the number of workers give the cheapest ring on one server,
in one rack, and over racks, for all jobs at once (reconstructed).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints

from ...subproblems.slot_problem import (
    Mapping,
    SlotProblem,
)


@dataclass(frozen=True)
class Prices:
    """Non-negative prices of a slot.

    Attributes
    ----------
    unit : array, shape (servers, resources)
        Per unit of a resource.
    access, uplink : array, shapes (servers,) and (racks,)
        Per Mbit/s.
    """

    unit: Floats
    access: Floats
    uplink: Floats


class TreePricing:
    """Pricing oracle for the rings of all jobs of a slot problem.

    Raises
    ------
    ModelRefused
        If the network is a graph.
    """

    def __init__(self, problem: SlotProblem):
        tree = problem.terms.tree
        if tree is None:
            raise ModelRefused("the network is a graph, expected a two-tier cluster")
        self.problem = problem
        self.tree = tree
        jobs = problem.jobs
        self.most: int = max((x.most for x in jobs), default=0)
        self.bandwidth: Ints = np.array([x.job.bandwidth for x in jobs])
        self.demand: Ints = np.array([x.job.demand for x in jobs])
        self.fits: Ints = np.array([x.job.per_server for x in jobs])
        self.gain: Floats = np.full((len(jobs), self.most + 1), -np.inf)
        for j, x in enumerate(jobs):
            self.gain[j, : x.most + 1] = x.gain
        self.servers_of: list[Ints] = [
            np.flatnonzero(tree.rack == k) for k in range(len(tree.uplink))
        ]

    def best(self, prices: Prices) -> tuple[Floats, list[Mapping | None]]:
        """Return the largest gain less cost of each job, and a ring that attains it.

        Returns
        -------
        value : array, shape (jobs,)
            At least 0.
        mappings : list of Mapping or None
            None where no ring gains more than it costs.
        """
        worker = self.demand @ prices.unit.T
        single, single_server = self._one_server(worker)
        racks = [self._rack(k, worker, prices.access) for k in range(len(self.servers_of))]
        over, shares = self._over_racks([cost for cost, _ in racks], prices.uplink)
        inside = np.array([cost for cost, _ in racks])
        kinds = np.stack([single, inside.min(axis=0), over])
        cheapest = kinds.min(axis=0)
        net = self.gain - cheapest
        net[:, 0] = 0.0
        size = net.argmax(axis=1)
        value = net[np.arange(len(net)), size]
        kind = kinds.argmin(axis=0)
        mappings: list[Mapping | None] = []
        for j, (x, n) in enumerate(zip(self.problem.jobs, size.tolist(), strict=True)):
            if n == 0:
                mappings.append(None)
                continue
            parts: list[tuple[int, int]]
            if kind[j, n] == 0:
                parts = [(int(single_server[j, n]), n)]
            elif kind[j, n] == 1:
                parts = self._unroll(int(inside[:, j, n].argmin()), racks, j, n)
            else:
                parts = []
                left = n
                for k in reversed(range(len(racks))):
                    here = int(shares[k][j, left])
                    if here:
                        parts = self._unroll(k, racks, j, here) + parts
                        left -= here
            mappings.append(Mapping(x.job.index, tuple(parts)))
        return value, mappings

    def _one_server(self, worker: Floats) -> tuple[Floats, Ints]:
        cost = np.full((len(worker), self.most + 1), np.inf)
        server = np.zeros((len(worker), self.most + 1), dtype=np.int64)
        for n in range(1, self.most + 1):
            each = np.where(self.fits >= n, worker, np.inf)
            server[:, n] = each.argmin(axis=1)
            cost[:, n] = n * each.min(axis=1)
        return cost, server

    def _rack(self, k: int, worker: Floats, access: Floats) -> tuple[Floats, list[Ints]]:
        """Return the cheapest ways to place workers in a rack, if the ring leaves the servers.

        Returns
        -------
        cost : array, shape (jobs, most + 1)
        counts : list of array
            For each server, its share of n workers, shape (jobs, most + 1).
        """
        cost = np.full((len(worker), self.most + 1), np.inf)
        cost[:, 0] = 0.0
        counts = []
        for s in self.servers_of[k].tolist():
            reachable = self.tree.access[s] >= self.bandwidth
            door = np.where(reachable, self.bandwidth * access[s], np.inf)
            taken = np.zeros(cost.shape, dtype=np.int64)
            updated = cost.copy()
            for n in range(1, min(self.most, int(self.fits[:, s].max(initial=0))) + 1):
                here = np.where(self.fits[:, s] >= n, door + n * worker[:, s], np.inf)
                with_server = cost[:, : self.most + 1 - n] + here[:, None]
                better = with_server < updated[:, n:]
                updated[:, n:] = np.where(better, with_server, updated[:, n:])
                taken[:, n:] = np.where(better, n, taken[:, n:])
            cost = updated
            counts.append(taken)
        return cost, counts

    def _over_racks(self, inside: list[Floats], uplink: Floats) -> tuple[Floats, list[Ints]]:
        cost = np.full_like(inside[0], np.inf)
        cost[:, 0] = 0.0
        shares = []
        for k, rack in enumerate(inside):
            reachable = self.tree.uplink[k] >= self.bandwidth
            door = np.where(reachable, self.bandwidth * uplink[k], np.inf)
            taken = np.zeros(cost.shape, dtype=np.int64)
            updated = cost.copy()
            for n in range(1, self.most + 1):
                here = rack[:, n] + door
                with_rack = cost[:, : self.most + 1 - n] + here[:, None]
                better = with_rack < updated[:, n:]
                updated[:, n:] = np.where(better, with_rack, updated[:, n:])
                taken[:, n:] = np.where(better, n, taken[:, n:])
            cost = updated
            shares.append(taken)
        return cost, shares

    def _unroll(
        self, k: int, racks: list[tuple[Floats, list[Ints]]], j: int, n: int
    ) -> list[tuple[int, int]]:
        """Return the servers and workers behind an entry of a rack's table."""
        parts = []
        for position in reversed(range(len(self.servers_of[k]))):
            here = int(racks[k][1][position][j, n])
            if here:
                parts.append((int(self.servers_of[k][position]), here))
                n -= here
        return parts[::-1]
