r"""The problem of one job as a mixed-integer linear program.

F5 of the page (reconstructed).

Synchronous, unary in the number of servers. Sets: k = 1..P servers; n = 1..W(1) - 1 secants.
Variables: sigma_k there are k servers; w workers; q_k = w sigma_k; y = 1/w.

.. math::
    \min\ & \theta_1 w + \theta_2 \sum_k k \sigma_k + \theta_3 + \theta_4 \sum_k \tfrac{q_k}{k}
            + \theta_5 y \\
    (1)\quad & \sum_k \sigma_k = 1 \\
    (2)\quad & \sum_k q_k = w \\
    (3)\quad & \sigma_k \le q_k \le W(k)\, \sigma_k \\
    (4)\quad & n (n + 1)\, y + w \ge 2 n + 1, \qquad y \ge 1 \text{ if } W(1) = 1 \\
    (5)\quad & O^r w + G^r \sum_k k \sigma_k \le v^r

It is exact: q is w at the chosen k and 0 elsewhere, and the secants (4) through (n, 1/n) and
(n + 1, 1/(n + 1)) describe 1/w at integers, onto which the objective pushes y.

Asynchronous, unary in the number of workers: alpha_k there are k workers, p servers,
q_k = p alpha_k, y = 1/p, with P(k) the most servers beside k workers.

.. math::
    \min\ & \theta'_1 + \theta'_2 \sum_k \tfrac{q_k}{k} + \theta'_3 \sum_k \tfrac{\alpha_k}{k}
            + \theta'_4 y \\
    (1)\quad & \sum_k \alpha_k = 1 \\
    (2)\quad & \sum_k q_k = p \\
    (3)\quad & \alpha_k \le q_k \le P(k)\, \alpha_k \\
    (4)\quad & n (n + 1)\, y + p \ge 2 n + 1, \qquad y \ge 1 \text{ if } P = 1 \\
    (5)\quad & O^r \sum_k k \alpha_k + G^r p \le v^r

Except for names, (1)-(4) are the same in both. One function builds them, with sigma for alpha (the
unary number) and n for w or p (the other one).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.models.smd.instance import Job
from gadgetopt.models.smd.subproblems.inner import (
    Pair,
    Row,
    largest_p,
    largest_w,
    most_workers,
    packing_rows,
)
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits, Status


class InnerOutcome(NamedTuple):
    """What a solver says of one job: a pair with its own time, a claimed lower bound, a status."""

    pair: Pair | None
    bound_s: float | None
    status: Status


#: Most unary variables and secants in a model.
LARGEST = 20_000


def build(job: Job) -> pyo.ConcreteModel:
    """Build the mixed-integer linear program of a job.

    Raises
    ------
    ModelRefused
        If not even (1, 1) fits, or the model would have more than `LARGEST` variables and secants.
    """
    P = largest_p(job)
    if P == 0:
        raise ModelRefused("not even one worker and one server fit")
    if P + largest_w(job, 1) > LARGEST:
        raise ModelRefused(f"the model of one job has {P + largest_w(job, 1)} variables and rows")
    return _sync(job) if job.sgd_mode == "sync" else _async(job)


def decode(model: pyo.ConcreteModel, job: Job) -> Pair:
    """Read the pair, and compute its time from the job."""
    w, p = round(pyo.value(model.workers)), round(pyo.value(model.servers))
    return Pair(w, p, float(job.completion_time.at(w, p)))


def solve_inner(job: Job, limits: Limits | None = None, seed: int = 0) -> InnerOutcome:
    """Solve the program of a job with HiGHS; parameters and refusals are those of `build`."""
    model = build(job)
    outcome = solve_model(model, "highs", limits, seed)
    pair = decode(model, job) if outcome.values is not None else None
    bound = None if outcome.bound is None else float(outcome.bound)
    return InnerOutcome(pair, bound, outcome.status)


def _sync(job: Job) -> pyo.ConcreteModel:
    """Build the model that is unary in the servers."""
    tau = job.completion_time
    P = largest_p(job)
    m = _unary("inner problem, synchronous", most_workers(job, np.arange(1, P + 1)).tolist())
    m.workers = pyo.Expression(expr=m.n)
    m.servers = pyo.Expression(expr=sum(k * m.sigma[k] for k in m.K))
    _add_packing(m, job)
    m.time = pyo.Objective(
        expr=tau.per_w * m.workers
        + tau.per_p * m.servers
        + tau.constant
        + tau.w_over_p * sum(m.q[k] / k for k in m.K)
        + tau.one_over_w * m.y,
        sense=pyo.minimize,
    )
    return m


def most_servers(job: Job, w: int) -> int:
    """Return P(w), the most servers beside w workers."""
    rows: tuple[Row, ...] = packing_rows(job)
    return min((row.limit - row.worker * w) // row.server for row in rows if row.server)


def _async(job: Job) -> pyo.ConcreteModel:
    """Build the model that is unary in the workers."""
    tau = job.completion_time
    W = largest_w(job, 1)
    m = _unary("inner problem, asynchronous", [most_servers(job, w) for w in range(1, W + 1)])
    m.workers = pyo.Expression(expr=sum(k * m.sigma[k] for k in m.K))
    m.servers = pyo.Expression(expr=m.n)
    _add_packing(m, job)
    m.time = pyo.Objective(
        expr=tau.constant
        + tau.p_over_w * sum(m.q[k] / k for k in m.K)
        + tau.one_over_w * sum(m.sigma[k] / k for k in m.K)
        + tau.one_over_p * m.y,
        sense=pyo.minimize,
    )
    return m


def _unary(name: str, beside: list[int]) -> pyo.ConcreteModel:
    """Build (1)-(4): a number in unary, and another, of which `beside[k - 1]` fit beside k."""
    most = beside[0]
    m = pyo.ConcreteModel(name)
    m.K = pyo.RangeSet(1, len(beside))
    m.N = pyo.RangeSet(1, most - 1)

    m.sigma = pyo.Var(m.K, domain=pyo.Binary, doc="the one number is k")
    m.n = pyo.Var(domain=pyo.PositiveIntegers, bounds=(1, most), doc="the other number")
    m.q = pyo.Var(m.K, bounds=lambda m, k: (0, beside[k - 1]), doc="n sigma_k")
    m.y = pyo.Var(bounds=(1 / most, 1), doc="1/n")

    m.one_number = pyo.Constraint(expr=sum(m.sigma[k] for k in m.K) == 1, doc="(1)")
    m.split = pyo.Constraint(expr=sum(m.q[k] for k in m.K) == m.n, doc="(2)")

    @m.Constraint(m.K, doc="(3): at least one beside the k")
    def split_least(m: Any, k: int) -> Any:
        return m.sigma[k] <= m.q[k]

    @m.Constraint(m.K, doc="(3): some beside k only if there are k")
    def split_most(m: Any, k: int) -> Any:
        return m.q[k] <= beside[k - 1] * m.sigma[k]

    @m.Constraint(m.N, doc="(4): secants of 1/n")
    def secant(m: Any, n: int) -> Any:
        return n * (n + 1) * m.y + m.n >= 2 * n + 1

    return m


def _add_packing(m: pyo.ConcreteModel, job: Job) -> None:
    rows = packing_rows(job)
    m.R = pyo.RangeSet(0, len(rows) - 1)

    @m.Constraint(m.R, doc="(5): inside the reservation")
    def packing(m: Any, r: int) -> Any:
        return rows[r].worker * m.workers + rows[r].server * m.servers <= rows[r].limit
