r"""OASiS, the predecessor of PD-ORS: separate machines for workers and for servers.

Y. Bao, Y. Peng, C. Wu, Z. Li, "Online Job Scheduling in Distributed Machine Learning Clusters",
IEEE INFOCOM 2018. The first half of the machines, rounded down, hosts only workers, the rest only
servers (reconstructed); so every job trains at the external speed. Each pool has prices of its own
with

.. math::
    U_1^r = \max_i \frac{u_i}{\alpha_i^r}, \qquad
    L_1 = \frac1{4 \eta_1} \min_i
          \frac{u_i(T - a_i)}{\lceil E_i K_i \kappa_i^{ext} \rceil \sum_r \alpha_i^r}, \qquad
    \eta_1 = \max_i \frac{T \sum_{h,r} C_h^r}
                         {\lceil E_i K_i \kappa_i^{ext} \rceil \sum_r \alpha_i^r}

over its own machines, and the same with :math:`\beta` for servers. The bandwidth of machines, a
resource in OASiS, is reserved per job here.
"""

from __future__ import annotations

import math

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.online import outcome, run_online
from ..instance import PdOrsInstance, Placement
from ..subproblems.kernel import Plan, Progress, plans_in
from ..subproblems.prices import (
    PriceRange,
    PriceTable,
    family_range,
    logs_per_unit,
)
from ..subproblems.slot_tables import (
    Placements,
    SlotTable,
    nowhere,
    units_that_fit,
)
from ..terms import JobTerms


@method(kind="baseline", reference="OASiS, Algorithms 1 and 2")
def oasis(
    instance: PdOrsInstance,
    limits: Limits,
    *,
    progress: Progress = "auto",
    quanta: int = 200,
    log_price_span: float | None = None,
) -> MethodOutcome:
    r"""OASiS: half of the machines for workers, the others for servers.

    Return the decisions of OASiS with separated pools.

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is checked before each job; jobs after it are rejected.
    progress, quanta
        As in `pd_ors.pd_ors`.
    log_price_span : float, optional
        k of :math:`L = e^{-k} \min_r U^r` for each pool, instead of L above (reconstructed).

    Returns
    -------
    MethodOutcome
        Its notes give the payoff of every job (None where it had no plan) and the logarithms of U
        and L of both pools.

    Raises
    ------
    ModelRefused
        If there is one machine only, or jobs may not be spread over machines.

    Notes
    -----
    The cheapest placement in a slot is that on the machines where a worker, and on those where a
    server, is cheapest: exact, in O(machines log machines).
    """
    if instance.locality == "internal_only":
        raise ModelRefused("oasis: jobs are spread over two pools, which this instance forbids")
    machines = len(instance.machines)
    if machines == 1:
        raise ModelRefused("oasis: one machine cannot be two pools")
    terms = instance.terms
    ranges = pool_ranges(instance, log_price_span)
    logs = [logs_per_unit(terms, price_bounds) for price_bounds in ranges]
    counts = [machines // 2, machines - machines // 2]
    table = PriceTable(
        terms,
        np.repeat([log_lower for log_lower, _ in logs], counts, axis=0),
        np.repeat([log_span for _, log_span in logs], counts, axis=0),
    )

    def find(job: JobTerms, table: PriceTable, last_slot: int) -> dict[int, Plan]:
        known: dict[int, SlotTable] = {}
        tables = []
        for t in range(job.arrival, last_slot + 1):
            kind = int(table.alike[t - 1])
            if kind not in known:
                known[kind] = pool_table(job, table.price[t - 1], table.room[t - 1])
            tables.append(known[kind])
        return plans_in(job, tables, progress, quanta)

    run = run_online(instance, limits, table, find)
    notes: dict[str, object] = {}
    for pool, price_bounds in zip(("workers", "servers"), ranges, strict=True):
        upper = [u if math.isfinite(u) else None for u in price_bounds.log_upper]
        notes[f"log_upper_{pool}"] = upper
        notes[f"log_lower_{pool}"] = price_bounds.log_lower
    return outcome(instance, run, notes)


def pool_ranges(
    instance: PdOrsInstance, log_price_span: float | None = None
) -> tuple[PriceRange, PriceRange]:
    """Return U and L of the machines for workers and of those for servers."""
    terms = instance.terms
    half = len(terms.capacity) // 2
    pools = (
        ([job.alpha for job in terms.jobs], terms.capacity[:half]),
        ([job.beta for job in terms.jobs], terms.capacity[half:]),
    )
    workers, servers = (
        family_range(
            terms,
            demand,
            demand,
            capacity,
            fastest="external",
            part=0.25,
            log_price_span=log_price_span,
            measure=(1.0,) * len(terms.unit),
        )
        for demand, capacity in pools
    )
    return workers, servers


def pool_table(job: JobTerms, price: Floats, room: Ints) -> SlotTable:
    """Return the slot table of a job whose workers and servers are in pools of their own.

    Parameters
    ----------
    job : JobTerms
    price : array of float, shape (machines, resources)
        Per unit.
    room : array of int, shape (machines, resources)
        In units.
    """
    impossible = np.full(job.batch + 1, np.inf)
    machine = np.zeros(job.batch + 1, dtype=np.int64)
    half = len(room) // 2
    workers = _cheapest(price[:half] @ job.alpha, room[:half], job.alpha, job.batch)
    servers = _cheapest(price[half:] @ job.beta, room[half:], job.beta, int(job.servers[-1]))
    n = np.flatnonzero(job.usable[: len(workers) + 1])[1:]
    n = n[job.servers[n] <= len(servers)]
    if len(n) == 0:
        return SlotTable(impossible, impossible, machine, job.servers, nowhere)
    worker_cost = np.cumsum((price[:half] @ job.alpha)[workers])
    server_cost = np.cumsum((price[half:] @ job.beta)[servers])
    external = impossible.copy()
    external[n] = worker_cost[n - 1] + server_cost[job.servers[n] - 1]

    def place(n: int) -> Placements:
        numbers = np.bincount(workers[:n], minlength=half)
        others = np.bincount(servers[: job.servers[n]])
        return tuple(
            Placement(machine=int(h), workers=int(numbers[h])) for h in np.flatnonzero(numbers)
        ) + tuple(
            Placement(machine=half + int(h), servers=int(others[h])) for h in np.flatnonzero(others)
        )

    return SlotTable(impossible, external, machine, job.servers, place)


def _cheapest(cost: Floats, room: Ints, demand: Ints, most: int) -> Ints:
    """Return the machine of the first, second, ... unit, cheapest first, as many as there is room.

    Parameters
    ----------
    most : int
        Units wanted.
    """
    fit = units_that_fit(demand, room, most)
    order = np.argsort(cost, kind="stable")
    order = order[: int(np.searchsorted(np.cumsum(fit[order]), most)) + 1]
    return np.repeat(order, fit[order])[:most]
