r"""The program of one slot: one job spread over machines, mixed packing and covering.

For a job with n workers and :math:`m = \lceil n / \gamma \rceil` servers, prices p and the free
capacity of every machine, with :math:`c^w_h = \sum_r p_h^r \alpha^r` and
:math:`c^s_h = \sum_r p_h^r \beta^r`:

.. math::
    \min\ & \sum_h (c^w_h w_h + c^s_h s_h)                                      \tag{13} \\
    & \sum_h w_h \ge n                                                          \tag{14} \\
    & \sum_h s_h \ge m                                                          \tag{15} \\
    & \sum_h w_h \le F                                                          \tag{16} \\
    & \alpha^r w_h + \beta^r s_h \le \hat C_h^r \quad \forall h, r              \tag{17} \\
    & w_h, s_h \in \mathbb{Z}_+                                                 \tag{18}

(14) and (15) are covering rows and (16) and (17) packing rows. That (15) is a constant row is
(reconstructed): since costs are not negative, some optimum has n workers.

Prices grow exponentially with the load, so that the dearest machine may cost 10^40 times the
cheapest, where tolerances are relative to the dearest coefficient. Hence units that cost more
alone than a plan already found are excluded, until the optimum is of the order of the dearest
coefficient (reconstructed).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyomo.core as pyo

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.result import Limits, Status

from ..terms import JobTerms

#: Bits of the largest cost of a plan in CP-SAT. Tuned: `benchmarks/constants.py`.
COST_BITS = 50

#: A plan that costs less than this share of the dearest coefficient is looked at more closely.
#: Tuned: `benchmarks/constants.py`.
RESOLVED = 1e-3


@dataclass(frozen=True)
class SlotOptimum:
    """A cheapest placement of n workers and their servers.

    Attributes
    ----------
    workers, servers : array of int, shape (machines,)
        Precisely n workers, and as many servers as they need.
    cost : float
        (13), computed from the prices given.
    """

    workers: Ints
    servers: Ints
    cost: float


@dataclass(frozen=True)
class SlotCosts:
    """Cost of a worker and of a server on every machine, and the most allowed on it."""

    worker: Floats
    server: Floats
    most_workers: Ints
    most_servers: Ints

    @property
    def dearest(self) -> float:
        """Largest cost of a unit that is not excluded; 0 if there is none."""
        return max(
            float(self.worker[self.most_workers > 0].max(initial=0.0)),
            float(self.server[self.most_servers > 0].max(initial=0.0)),
        )


def slot_costs(
    job: JobTerms, n: int, price: Floats, room: Ints, limit: float = math.inf
) -> SlotCosts:
    """Return the coefficients of (13), and bounds on the variables by (16) and (17).

    Parameters
    ----------
    job : JobTerms
    n : int
        Workers.
    price : array of float, shape (machines, resources)
        Utility per unit.
    room : array of int, shape (machines, resources)
        Free capacity, in units.
    limit : float
        Workers and servers that cost more than this are excluded.
    """
    worker, server = price @ job.alpha, price @ job.beta
    return SlotCosts(
        worker,
        server,
        np.where(worker <= limit, _most(job.alpha, room, job.batch), 0),
        np.where(server <= limit, _most(job.beta, room, int(job.servers[n])), 0),
    )


def _most(demand: Ints, room: Ints, most: int) -> Ints:
    out = np.full(len(room), most, dtype=np.int64)
    for r in np.flatnonzero(demand):
        out = np.minimum(out, room[:, r] // demand[r])
    return np.maximum(out, 0)


def build_slot(
    job: JobTerms, n: int, price: Floats, room: Ints, limit: float = math.inf
) -> pyo.ConcreteModel:
    """Build (13)-(18); the objective is in multiples of the dearest coefficient.

    Parameters are those of `slot_costs`.
    """
    costs = slot_costs(job, n, price, room, limit)
    unit = costs.dearest or 1.0
    c_w, c_s = costs.worker / unit, costs.server / unit
    alpha, beta, C = job.alpha.tolist(), job.beta.tolist(), room.tolist()

    m = pyo.ConcreteModel("slot program")
    m.H = pyo.RangeSet(0, len(room) - 1)
    m.R = pyo.RangeSet(0, len(alpha) - 1)
    m.w = pyo.Var(
        m.H,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, h: (0, int(costs.most_workers[h])),
        doc="(18): workers on machine h",
    )
    m.s = pyo.Var(
        m.H,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, h: (0, int(costs.most_servers[h])),
        doc="(18): servers on machine h",
    )
    m.workload = pyo.Constraint(expr=sum(m.w[h] for h in m.H) >= n, doc="(14)")
    m.enough_servers = pyo.Constraint(
        expr=sum(m.s[h] for h in m.H) >= int(job.servers[n]), doc="(15)"
    )
    m.batch = pyo.Constraint(expr=sum(m.w[h] for h in m.H) <= job.batch, doc="(16)")

    @m.Constraint(m.H, m.R, doc="(17): free capacity of the machine")
    def capacity(m: Any, h: int, r: int) -> Any:
        if not alpha[r] and not beta[r]:
            return pyo.Constraint.Skip
        return alpha[r] * m.w[h] + beta[r] * m.s[h] <= C[h][r]

    m.cost = pyo.Objective(
        expr=sum(float(c_w[h]) * m.w[h] + float(c_s[h]) * m.s[h] for h in m.H),
        sense=pyo.minimize,
        doc="(13)",
    )
    return m


def solve_slot(
    job: JobTerms,
    n: int,
    price: Floats,
    room: Ints,
    backend: Literal["highs", "cpsat"] = "highs",
    limits: Limits | None = None,
    seed: int = 0,
) -> SlotOptimum | None:
    """Return a cheapest external placement of n workers; None if there is no room for it.

    Parameters
    ----------
    job : JobTerms
    n : int
        Workers, from 1 to F.
    price : array of float, shape (machines, resources)
        Utility per unit.
    room : array of int, shape (machines, resources)
        Free capacity, in units.
    backend : "highs" or "cpsat"
        The Pyomo model, or the same in CP-SAT with costs rounded to `COST_BITS` bits.
    limits : Limits, optional
    seed : int

    Raises
    ------
    SolverError
        If the solver stops without an optimum.
    TimeoutError
        If time is up first.
    """
    clock = Clock(limits)
    if not job.usable[n]:
        return None
    solve = _highs if backend == "highs" else _cpsat
    limit = math.inf
    while True:
        found = solve(job, n, price, room, limit, clock.limits(), seed)
        if found is None:
            return None
        costs = slot_costs(job, n, price, room, limit)
        w = _without_surplus(found[0], n, costs.worker)
        s = _without_surplus(found[1], int(job.servers[n]), costs.server)
        cost = float(costs.worker @ w + costs.server @ s)
        # No optimum holds anything that alone costs more than this plan.
        if cost == 0 or cost >= RESOLVED * costs.dearest:
            return SlotOptimum(w, s, cost)
        limit = cost


def _without_surplus(count: Ints, wanted: int, cost: Floats) -> Ints:
    """Remove units in excess of the number wanted, from the dearest machines."""
    out, surplus = count.copy(), int(count.sum()) - wanted
    for h in np.argsort(-cost, kind="stable"):
        taken = min(surplus, int(out[h]))
        out[h] -= taken
        surplus -= taken
    return out


def _highs(
    job: JobTerms, n: int, price: Floats, room: Ints, limit: float, limits: Limits, seed: int
) -> tuple[Ints, Ints] | None:
    m = build_slot(job, n, price, room, limit)
    outcome = solve_model(m, "highs", limits, seed)
    if outcome.status is Status.INFEASIBLE:
        return None
    if outcome.limit_hit == "time_s":
        raise TimeoutError
    if outcome.status is Status.FEASIBLE and outcome.limit_hit is None:
        # Its incumbent refutes its bound, as happens where prices are 12 orders apart.
        return _cpsat(job, n, price, room, limit, limits, seed)
    if outcome.status is not Status.OPTIMAL and outcome.limit_hit != "gap":
        raise SolverError(f"slot program: {outcome.reason or outcome.status}")
    w = [round(pyo.value(m.w[h])) for h in m.H]
    s = [round(pyo.value(m.s[h])) for h in m.H]
    return np.array(w, dtype=np.int64), np.array(s, dtype=np.int64)


def _cpsat(
    job: JobTerms, n: int, price: Floats, room: Ints, limit: float, limits: Limits, seed: int
) -> tuple[Ints, Ints] | None:
    costs = slot_costs(job, n, price, room, limit)
    m = int(job.servers[n])
    # The objective of n workers and m servers has no more than COST_BITS bits.
    scale = math.ldexp(1.0, COST_BITS - (n + m).bit_length())
    unit = costs.dearest or 1.0
    model = cp_model.CpModel()
    w = [model.new_int_var(0, k, "") for k in costs.most_workers.tolist()]
    s = [model.new_int_var(0, k, "") for k in costs.most_servers.tolist()]
    model.add(sum(w) == n)
    model.add(sum(s) == m)
    for h, row in enumerate(room.tolist()):
        for alpha, beta, left in zip(job.alpha.tolist(), job.beta.tolist(), row, strict=True):
            if alpha or beta:
                model.add(alpha * w[h] + beta * s[h] <= left)
    c_w = [round(c / unit * scale) for c in costs.worker.tolist()]
    c_s = [round(c / unit * scale) for c in costs.server.tolist()]
    # Excluded units may have any cost, which might not fit into 64 bits.
    model.minimize(
        sum(c * x for c, x, k in zip(c_w, w, costs.most_workers.tolist(), strict=True) if k)
        + sum(c * x for c, x, k in zip(c_s, s, costs.most_servers.tolist(), strict=True) if k)
    )
    outcome = solve_cp(model, limits, seed)
    if outcome.status is Status.INFEASIBLE:
        return None
    if outcome.limit_hit == "time_s":
        raise TimeoutError
    ended = outcome.status is Status.OPTIMAL or outcome.limit_hit == "gap"
    if not ended or outcome.values is None:
        raise SolverError(f"slot program: {outcome.reason or outcome.status}")
    values = outcome.values
    return (
        np.array([value_of(values, x) for x in w], dtype=np.int64),
        np.array([value_of(values, x) for x in s], dtype=np.int64),
    )
