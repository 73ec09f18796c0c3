r"""The paper's program RAR-DDLS as a bilinear MINLP.

The model serves as a reference and, with a global solver, as an independent check on tiny
instances. There is no table of rates: the iteration time (8) is part of the model.

Sets: jobs J, servers S, slots t = 0..H-1. Binaries: u_js uses, sigma_j spread, n_js = u_js sigma_j,
z_jt starts, w_jt has stopped, x_jt active. Integers: y_js GPUs, p_jt contention level, phi_jt
iterations done. Continuous: k_jt contention, tau_jt slots per iteration. P = min(max_s O_s, jobs
with a gang of 2 or more).

.. math::
    \min\ & mk \\
    (1)\quad & \sum_s y_{js} = G_j \\
    (2)\quad & \sum_j y_{js} x_{jt} \le O_s \\
    (3),(4)\quad & x_{jt} = x_{j,t-1} + z_{jt} - w_{jt}, \quad \sum_t z_{jt} = \sum_t w_{jt} = 1 \\
    (5)\quad & y_{js} \in \mathbb{Z}_{\ge 0}, \quad u_{js} \le y_{js} \le \min(O_s, G_j) u_{js} \\
    (6)\quad & n_{js} = u_{js} \sigma_j, \quad
        y_{js} \ge G_j (u_{js} - \sigma_j), \quad \sum_s u_{js} \ge 1 + \sigma_j \\
    & p_{jt} \ge \sum_i n_{is} x_{it} - P (1 - n_{js}) - P (1 - x_{jt}) \\
    (7)\quad & k_{jt} \ge \xi_1 p_{jt}, \quad k_{jt} \ge 1 \\
    (8)\quad & \tau_{jt} = \tfrac{e_j}{2C} + \Delta^f_j M_j + \Delta^b_j + \gamma_j
        + e_j \Big(\frac{1 - \sigma_j}{b^i}
        + \sigma_j \frac{k_{jt} + \alpha (k_{jt} - 1)}{b^e}\Big), \quad
        \gamma_j = \xi_2 \omega \sum_s u_{js}, \quad e_j = \tfrac{2 m_j (G_j - 1)}{G_j} \\
    (9)\quad & \phi_{jt} \tau_{jt} \le 1, \quad \phi_{jt} \le \phi^{\max}_j x_{jt}, \quad
        \sum_t \phi_{jt} \ge F_j, \quad mk \ge (t + 1) x_{jt}

The largest integer phi with phi tau <= 1 is the floor of 1/tau. Levels and work are bounded on one
side only, which does not change the optimum (see `time_indexed.py`). The model uses floating-point
numbers, so a rate is correct if 1/tau is an integer or further from the next integer than the
solver's tolerance.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..instance import Job, SjfBcoInstance
from ..size_limits import refuse_many_slots
from ..subproblems.greedy import default_horizon
from .time_indexed import decode

__all__ = ["build", "decode", "fastest_rate"]


def exchanged_mb(job: Job) -> float:
    """Return e_j, the MB that a worker sends per iteration."""
    return 2 * job.grad_size_mb * (job.gpus - 1) / job.gpus


def fastest_rate(instance: SjfBcoInstance, j: int) -> int:
    """Return the largest number of iterations of job j in any slot."""
    rates = instance.rates
    return max(rates.rate(j, r, rates.levels(r)[0]) for r in rates.server_counts(j))


@formulation(model_class="MINLP", equations="(1)-(9)", backends=("scip",))
def build(instance: SjfBcoInstance, horizon: int | None = None) -> pyo.ConcreteModel:
    """The paper's program RAR-DDLS, bilinear.

    Build (1)-(9) on `horizon` slots, by default the makespan of a quick feasible schedule.
    """
    H = default_horizon(instance) if horizon is None else horizon
    refuse_many_slots(instance, H)
    O, jobs, rates = instance.server_gpus, instance.jobs, instance.rates  # noqa: E741
    G, P = rates.gpus, max(1, rates.max_level)
    xi_1, alpha = instance.contention_coeff, instance.degradation_alpha
    k_min = 1.0 if instance.clamp_contention else 0.0
    k_max = max(1.0, xi_1 * P)
    phi_max = [fastest_rate(instance, j) for j in range(len(jobs))]

    m = pyo.ConcreteModel("RAR-DDLS")
    m.J = pyo.RangeSet(0, len(jobs) - 1)
    m.S = pyo.RangeSet(0, len(O) - 1)
    m.T = pyo.RangeSet(0, H - 1)
    m.y = pyo.Var(
        m.J, m.S, domain=pyo.NonNegativeIntegers, bounds=lambda m, j, s: (0, min(O[s], G[j]))
    )
    m.u = pyo.Var(m.J, m.S, domain=pyo.Binary, doc="job j uses server s")
    m.sigma = pyo.Var(m.J, domain=pyo.Binary, doc="job j is spread")
    m.n = pyo.Var(m.J, m.S, domain=pyo.Binary, doc="job j is on the network at server s")
    m.x = pyo.Var(m.J, m.T, domain=pyo.Binary, doc="active in slot t")
    m.z = pyo.Var(m.J, m.T, domain=pyo.Binary, doc="starts in slot t")
    m.w = pyo.Var(m.J, pyo.RangeSet(1, H), domain=pyo.Binary, doc="has stopped at instant t")
    m.p = pyo.Var(m.J, m.T, domain=pyo.NonNegativeIntegers, bounds=(0, P), doc="level")
    m.k = pyo.Var(m.J, m.T, bounds=(k_min, k_max), doc="contention")
    m.tau = pyo.Var(m.J, m.T, domain=pyo.NonNegativeReals, doc="slots per iteration")
    m.phi = pyo.Var(
        m.J,
        m.T,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, j, t: (0, phi_max[j]),
        doc="iterations done in slot t",
    )
    m.mk = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, H), doc="makespan")

    @m.Constraint(m.J, doc="(1): the gang is complete")
    def gang(m: Any, j: int) -> Any:
        return sum(m.y[j, s] for s in m.S) == G[j]

    @m.Constraint(m.S, m.T, doc="(2): capacity")
    def capacity(m: Any, s: int, t: int) -> Any:
        return sum(m.y[j, s] * m.x[j, t] for j in m.J) <= O[s]

    @m.Constraint(m.J, m.T, doc="(3), (4): one run, on one placement")
    def activity(m: Any, j: int, t: int) -> Any:
        before = m.x[j, t - 1] - m.w[j, t] if t else 0
        return m.x[j, t] == before + m.z[j, t]

    @m.Constraint(m.J, doc="(3), (4): one start")
    def one_start(m: Any, j: int) -> Any:
        return sum(m.z[j, t] for t in m.T) == 1

    @m.Constraint(m.J, doc="(3), (4): one stop")
    def one_stop(m: Any, j: int) -> Any:
        return sum(m.w[j, t + 1] for t in m.T) == 1

    @m.Constraint(m.J, m.S, doc="(5): a used server holds a GPU")
    def used_holds(m: Any, j: int, s: int) -> Any:
        return m.u[j, s] <= m.y[j, s]

    @m.Constraint(m.J, m.S, doc="(5): GPUs only on used servers")
    def holds_used(m: Any, j: int, s: int) -> Any:
        return m.y[j, s] <= min(O[s], G[j]) * m.u[j, s]

    @m.Constraint(m.J, m.S, doc="(6): on the network where used and spread, 0 < y < G")
    def on_network(m: Any, j: int, s: int) -> Any:
        return m.n[j, s] == m.u[j, s] * m.sigma[j]

    @m.Constraint(m.J, m.S, doc="(6): a job that is not spread has its whole gang on one server")
    def local_is_whole(m: Any, j: int, s: int) -> Any:
        return m.y[j, s] >= G[j] * (m.u[j, s] - m.sigma[j])

    @m.Constraint(m.J, doc="(6): a spread job uses two servers or more")
    def spread_uses_two(m: Any, j: int) -> Any:
        return sum(m.u[j, s] for s in m.S) >= 1 + m.sigma[j]

    @m.Constraint(m.J, m.S, m.T, doc="(6): the level covers every shared server")
    def level(m: Any, j: int, s: int, t: int) -> Any:
        sharing = sum(m.n[i, s] * m.x[i, t] for i in m.J)
        return m.p[j, t] >= sharing - P * (1 - m.n[j, s]) - P * (1 - m.x[j, t])

    @m.Constraint(m.J, m.T, doc="(7): contention")
    def contention(m: Any, j: int, t: int) -> Any:
        return m.k[j, t] >= xi_1 * m.p[j, t]

    @m.Constraint(m.J, m.T, doc="(8): iteration time")
    def iteration_time(m: Any, j: int, t: int) -> Any:
        job, e = jobs[j], exchanged_mb(jobs[j])
        compute = job.fwd_slots_per_sample * job.minibatch_samples + job.bwd_slots
        overhead = instance.overhead_coeff * instance.overhead_unit_slots
        counted = sum(m.u[j, s] for s in m.S)
        if instance.overhead_free_local:
            counted = counted - (1 - m.sigma[j])
        local = (1 - m.sigma[j]) / instance.intra_bw_mb_per_slot
        degradation = m.k[j, t] + alpha * (m.k[j, t] - 1)
        spread = m.sigma[j] * degradation / instance.inter_bw_mb_per_slot
        reduce = e / (2 * instance.gpu_reduce_mb_per_slot)
        return m.tau[j, t] == reduce + compute + overhead * counted + e * (local + spread)

    @m.Constraint(m.J, m.T, doc="(9): an integer rate with phi tau <= 1 is floor(1 / tau)")
    def rate(m: Any, j: int, t: int) -> Any:
        return m.phi[j, t] * m.tau[j, t] <= 1

    @m.Constraint(m.J, m.T, doc="(9): progress only while active")
    def progress(m: Any, j: int, t: int) -> Any:
        return m.phi[j, t] <= phi_max[j] * m.x[j, t]

    @m.Constraint(m.J, doc="(9): the work is done")
    def work(m: Any, j: int) -> Any:
        return sum(m.phi[j, t] for t in m.T) >= jobs[j].iterations

    @m.Constraint(m.J, m.T, doc="the makespan follows every active slot")
    def makespan_active(m: Any, j: int, t: int) -> Any:
        return m.mk >= (t + 1) * m.x[j, t]

    m.makespan = pyo.Objective(expr=m.mk, sense=pyo.minimize)
    return m
