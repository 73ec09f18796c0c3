r"""The problem as it stands: a non-convex MINLP for a global solver, for tiny instances.

It is the problem DMLRS, (1)-(9). Sets: jobs i, machines h, slots t from a_i on, resources r.
Binaries: x_i accepts; W_iht and P_iht, machine h has workers or servers of the job; y_it its last
slot with workers is t. Integers: w_iht workers, s_iht servers. Continuous: N_it samples trained in
slot t, times :math:`\kappa_i^{ext}`; c_it time of communication per sample and worker, divided by
:math:`\kappa_i^{ext}`.

.. math::
    \max\ & \sum_i x_i\, u_i(\tilde t_i - a_i)                                  \tag{2} \\
    & \frac{N_{it}}{\kappa_i^{ext}} \Big(\tau_i + \frac{\sum_h w_{iht}}{F_i}
        \max_{h \in \mathcal W_{it}, p \in \mathcal P_{it}}
        \frac{2 g_i / \sum_h s_{iht}}{b_i(h, p)}\Big) = \sum_h w_{iht}          \tag{1} \\
    & \sum_t N_{it} \ge W_i x_i                                                 \tag{3} \\
    & \sum_h w_{iht} \le F_i x_i                                                \tag{4} \\
    & \sum_i \alpha_i^r w_{iht} + \beta_i^r s_{iht} \le C_h^r                   \tag{5} \\
    & \gamma_i \sum_h s_{iht} \ge \sum_h w_{iht}                                \tag{6} \\
    & \tilde t_i = \max \{t : \sum_h w_{iht} > 0\} \ \text{ if } x_i = 1        \tag{7} \\
    & w_{iht} = s_{iht} = 0 \quad \forall t < a_i                               \tag{8} \\
    & x_i \in \{0, 1\}, \quad w, s \in \mathbb{Z}_+                             \tag{9}

Written so that a solver takes it: with the nominal ratio, :math:`\sum s = \sum w / \gamma`, the
second term of (1) is :math:`\kappa_i^{ext} c_{it}`, and a maximum over the support is a row for
every pair,

.. math::
    N_{it} (\tau_i / \kappa_i^{ext} + c_{it}) \le \sum_h w_{iht}, \qquad
    c_{it} \ge \frac{2 g_i \gamma_i}{b_i(h, p) F_i \kappa_i^{ext}} (W_{iht} + P_{ipt} - 1)
    \quad \forall h, p,

and (2), (7) are :math:`\sum_{i,t} u_i(t - a_i) y_{it}`, :math:`\sum_t y_{it} = x_i`,
:math:`y_{it} \le \sum_h w_{iht}` and :math:`\sum_h w_{iht} \le F_i \sum_{t' \ge t} y_{it'}`.
Inequalities suffice, as more communication or fewer samples are never wanted. W_i stands in (3) as
the middle between sufficient and insufficient work (`JobTerms.work_level`). Jobs that cannot
complete in time are left out.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import formulation

from ..instance import PdOrsInstance, PdOrsSolution
from ..subproblems.decoding import slot_plan, solution
from ..terms import JobTerms
from .aggregated import useful_jobs

#: Rows of (1) for which the model is built: one for each job, slot and pair of machines.
#: Tuned: `benchmarks/constants.py`.
MOST_PAIRS = 50_000


def communication(instance: PdOrsInstance, job: JobTerms, h: int, p: int) -> float:
    r"""Return :math:`2 g \gamma / (b(h, p) F \kappa^{ext})`, worker on h to server on p."""
    internal = h == p and instance.locality != "external_only"
    gbps = job.job.bandwidth_internal_gbps if internal else job.job.bandwidth_external_gbps
    traffic = 2 * job.job.gradient_gbit * job.job.worker_ps_ratio
    return traffic / (gbps * instance.slot_s * job.batch * float(job.kappa_external))


@formulation(name="minlp", model_class="MINLP", equations="(1)-(9)", backends=("scip",))
def build(instance: PdOrsInstance) -> pyo.ConcreteModel:
    """The problem as it stands: speed by the slowest link that is used.

    Raises
    ------
    ModelRefused
        If there are more than `MOST_PAIRS` pairs of machines over all jobs and slots.
    """
    jobs = {job.index: job for job in useful_jobs(instance)}
    C = instance.terms.capacity.tolist()
    T = instance.horizon_slots
    slots = {i: range(job.arrival, T + 1) for i, job in jobs.items()}
    pairs = len(C) ** 2 * sum(map(len, slots.values()))
    if pairs > MOST_PAIRS:
        raise ModelRefused(f"{pairs} pairs of machines over jobs and slots are too many for (1)")

    m = pyo.ConcreteModel("DMLRS")
    m.I = pyo.Set(initialize=list(jobs))
    m.H = pyo.RangeSet(0, len(C) - 1)
    m.R = pyo.RangeSet(0, len(instance.resources) - 1)
    m.IT = pyo.Set(dimen=2, initialize=[(i, t) for i in jobs for t in slots[i]], doc="(8)")
    m.IHT = pyo.Set(dimen=3, initialize=[(i, h, t) for i, t in m.IT for h in m.H])
    m.T = pyo.Set(initialize=sorted({t for _, t in m.IT}))

    m.x = pyo.Var(m.I, domain=pyo.Binary, doc="(9): job i is accepted")
    m.y = pyo.Var(m.IT, domain=pyo.Binary, doc="(7): slot t is the last with workers")
    m.w = pyo.Var(
        m.IHT,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, i, h, t: (0, int(jobs[i].most_workers_on[h])),
        doc="(9): workers",
    )
    m.s = pyo.Var(
        m.IHT,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, i, h, t: (0, int(jobs[i].most_servers_on[h])),
        doc="(9): servers",
    )
    m.W = pyo.Var(m.IHT, domain=pyo.Binary, doc="machine h has workers")
    m.P = pyo.Var(m.IHT, domain=pyo.Binary, doc="machine h has servers")
    m.N = pyo.Var(m.IT, bounds=lambda m, i, t: (0, float(jobs[i].most_progress)), doc="trained")
    m.c = pyo.Var(
        m.IT,
        bounds=lambda m, i, t: (0, communication(instance, jobs[i], 0, -1)),
        doc="communication per sample and worker",
    )

    def workers(i: int, t: int) -> Any:
        return sum(m.w[i, h, t] for h in m.H)

    @m.Constraint(m.IT, doc="(1): samples trained in a slot")
    def speed(m: Any, i: int, t: int) -> Any:
        tau = jobs[i].job.sample_time_slots / float(jobs[i].kappa_external)
        return m.N[i, t] * (tau + m.c[i, t]) <= workers(i, t)

    @m.Constraint(m.IT, m.H, m.H, doc="(1): the slowest pair of worker and server")
    def slowest_pair(m: Any, i: int, t: int, h: int, p: int) -> Any:
        both = m.W[i, h, t] + m.P[i, p, t]
        if instance.locality == "internal_only" and h != p:
            return both <= 1
        return m.c[i, t] >= communication(instance, jobs[i], h, p) * (both - 1)

    @m.Constraint(m.IHT, doc="(1): the support of the workers")
    def support_of_workers(m: Any, i: int, h: int, t: int) -> Any:
        return m.w[i, h, t] <= int(jobs[i].most_workers_on[h]) * m.W[i, h, t]

    @m.Constraint(m.IHT, doc="(1): the support of the servers")
    def support_of_servers(m: Any, i: int, h: int, t: int) -> Any:
        return m.s[i, h, t] <= int(jobs[i].most_servers_on[h]) * m.P[i, h, t]

    @m.Constraint(m.I, doc="(3): every epoch is trained")
    def work(m: Any, i: int) -> Any:
        return sum(m.N[i, t] for t in slots[i]) >= jobs[i].work_level * m.x[i]

    @m.Constraint(m.IT, doc="(4): at most one worker for each sample of a batch")
    def batch(m: Any, i: int, t: int) -> Any:
        return workers(i, t) <= jobs[i].batch * m.x[i]

    @m.Constraint(m.T, m.H, m.R, doc="(5): capacity")
    def capacity(m: Any, t: int, h: int, r: int) -> Any:
        used = sum(
            int(jobs[i].alpha[r]) * m.w[i, h, t] + int(jobs[i].beta[r]) * m.s[i, h, t]
            for i in jobs
            if (i, t) in m.IT
        )
        return pyo.Constraint.Skip if isinstance(used, int) else used <= C[h][r]

    @m.Constraint(m.IT, doc="(6): workers per server")
    def ratio(m: Any, i: int, t: int) -> Any:
        supported = jobs[i].gamma.numerator * sum(m.s[i, h, t] for h in m.H)
        needed = jobs[i].gamma.denominator * workers(i, t)
        return supported == needed if instance.ratio == "exact" else supported >= needed

    @m.Constraint(m.I, doc="(7): an accepted job completes")
    def completes(m: Any, i: int) -> Any:
        return sum(m.y[i, t] for t in slots[i]) == m.x[i]

    @m.Constraint(m.IT, doc="(7): it has workers in the slot of completion")
    def last_slot(m: Any, i: int, t: int) -> Any:
        return m.y[i, t] <= workers(i, t)

    @m.Constraint(m.IT, doc="(7): and none after")
    def none_after(m: Any, i: int, t: int) -> Any:
        return workers(i, t) <= jobs[i].batch * sum(m.y[i, d] for d in slots[i] if d >= t)

    m.total_utility = pyo.Objective(
        expr=sum(float(jobs[i].utility[t]) * m.y[i, t] for i, t in m.IT),
        sense=pyo.maximize,
        doc="(2)",
    )
    return m


def decode(m: pyo.ConcreteModel, instance: PdOrsInstance) -> PdOrsSolution:
    """Read workers and servers of the accepted jobs."""
    jobs = instance.terms.jobs
    plans = {}
    for i in m.I:
        if pyo.value(m.x[i]) < 0.5:
            continue
        plans[i] = [
            slot_plan(
                jobs[i],
                t,
                {h: (round(pyo.value(m.w[i, h, t])), round(pyo.value(m.s[i, h, t]))) for h in m.H},
            )
            for k, t in m.IT
            if k == i
        ]
    return solution(instance, plans)
