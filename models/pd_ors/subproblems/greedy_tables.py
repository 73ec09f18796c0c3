r"""External slot tables by a greedy rule, for many machines.

Reconstructed; it takes the place of Algorithm 4 where exact tables would take too long. Whole
bundles of :math:`\lfloor\gamma\rfloor` workers and a server go to the machines where a bundle is
cheapest, then the servers and last the workers that are left over, one type at a time, to the
machines where they are cheapest. All numbers of workers are placed at once, and only the machines
that any of them reaches are looked at, which are about as many as F workers fill however many there
are; of the others only free capacity and cost are computed.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from ..instance import Placement
from ..terms import JobTerms
from .slot_tables import (
    Placements,
    Room,
    SlotTable,
    internal_table,
    nowhere,
    units_that_fit,
)


def numbers_of_workers(job: JobTerms, grid: int) -> Ints:
    """Return the numbers of workers that are tried in the external case.

    Parameters
    ----------
    job : JobTerms
    grid : int
        All up to 10 and the multiples of F / grid; 0 for all (reconstructed).
    """
    F = job.batch
    n = np.arange(1, F + 1)
    if grid:
        multiples = F * np.arange(1, grid + 1) // grid
        n = np.union1d(n[:10], multiples[multiples > 0])
    usable = np.flatnonzero(job.usable)
    rounded = usable[np.searchsorted(usable, n, side="right") - 1]
    return np.unique(rounded[rounded > 0])


def greedy_table(job: JobTerms, slot: Room, n: Ints | None = None) -> SlotTable:
    """Return the slot table whose external costs are those of the greedy rule.

    Parameters
    ----------
    job : JobTerms
    slot : Room
        Without bounds on workers.
    n : array of int, shape (numbers,), optional
        Numbers of workers to try, increasing; by default all.
    """
    internal, machine = internal_table(job, slot)
    external = np.full(job.batch + 1, np.inf)
    n = numbers_of_workers(job, 0) if n is None else n
    n = n[n <= job.most_external]
    if len(n) == 0:
        return SlotTable(internal, external, machine, job.servers, nowhere)
    placing = GreedyPlacing(job, slot, n)
    external[n] = placing.cost
    return SlotTable(internal, external, machine, job.servers, placing.placements)


class GreedyPlacing:
    """Where the greedy rule puts n workers and their servers, for several n.

    Attributes
    ----------
    cost : array of float, shape (numbers,)
        Infinite where it does not find room.
    """

    def __init__(self, job: JobTerms, slot: Room, n: Ints):
        self._n = n
        per_bundle = int(job.gamma)
        bundle = per_bundle * job.alpha + job.beta
        m = job.servers[n]
        bundles = np.minimum(n // per_bundle, m)
        bundle_cost = per_bundle * slot.worker_cost + slot.server_cost

        fit = units_that_fit(bundle, slot.room, int(bundles[-1]))
        chosen = _reached(job, slot, bundle_cost, fit, bundles[-1], m[-1], n[-1])
        room, fit = slot.room[chosen], fit[chosen]
        worker_cost, server_cost = slot.worker_cost[chosen], slot.server_cost[chosen]

        placed = _fill(bundles, np.tile(fit, (len(n), 1)), bundle_cost[chosen])
        left = room - placed[:, :, None] * bundle
        fit = units_that_fit(job.beta, left, int(m[-1]))
        servers = _fill(m - placed.sum(axis=1), fit, server_cost)
        left = left - servers[:, :, None] * job.beta
        fit = units_that_fit(job.alpha, left, int(n[-1]))
        workers = _fill(n - per_bundle * placed.sum(axis=1), fit, worker_cost)

        self._machines = chosen
        self._servers = placed + servers
        self._workers = placed * per_bundle + workers
        self.cost: Floats = self._workers @ worker_cost + self._servers @ server_cost
        short = (self._workers.sum(axis=1) < n) | (self._servers.sum(axis=1) < m)
        self.cost[short] = np.inf

    def placements(self, n: int) -> Placements:
        """Return where n workers, one of the numbers tried, and their servers are."""
        row = int(np.searchsorted(self._n, n))
        workers, servers = self._workers[row], self._servers[row]
        order = np.argsort(self._machines)
        return tuple(
            Placement(
                machine=int(self._machines[k]), workers=int(workers[k]), servers=int(servers[k])
            )
            for k in order
            if workers[k] or servers[k]
        )


def _reached(
    job: JobTerms,
    slot: Room,
    bundle_cost: Floats,
    bundles_fit: Ints,
    bundles: int,
    servers: int,
    workers: int,
) -> Ints:
    """Return the machines that the greedy rule reaches; no other changes its result.

    Bundles take the cheapest machines in turn. Single units find room at the latest on
    machines that hold nothing else.
    """
    free = np.ones(len(slot.room), dtype=np.bool_)
    for cost, fit, wanted in (
        (bundle_cost, bundles_fit, bundles),
        (slot.server_cost, units_that_fit(job.beta, slot.room, servers), servers),
        (slot.worker_cost, units_that_fit(job.alpha, slot.room, workers), workers),
    ):
        order = np.argsort(cost, kind="stable")
        order = order[free[order] & (fit[order] > 0)]
        enough = np.searchsorted(np.cumsum(fit[order]), wanted) + 1
        free[order[:enough]] = False
    return np.flatnonzero(~free)


def _fill(wanted: Ints, fit: Ints, cost: Floats) -> Ints:
    """Return how many of the wanted units go to each machine, the cheapest first.

    Parameters
    ----------
    wanted : array of int, shape (numbers,)
    fit : array of int, shape (numbers, machines)
    cost : array of float, shape (machines,)
    """
    order = np.argsort(cost, kind="stable")
    sorted_fit = fit[:, order]
    before = np.cumsum(sorted_fit, axis=1) - sorted_fit
    out = np.empty_like(fit)
    out[:, order] = np.clip(wanted[:, None] - before, 0, sorted_fit)
    return out
