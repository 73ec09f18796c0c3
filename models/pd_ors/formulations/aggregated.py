r"""The aggregated relaxation without machines: every slot is one large machine.

Reconstructed. Sets: jobs I that can earn anything, machines H, slots t, resources r; T_i the slots
from a_i to the last in which job i can earn, D_i its completion slots worth telling apart
(`completions`).

Parameters: :math:`\sigma_i`, W_i, alpha, beta, gamma, C; M_i the most workers on one machine;
:math:`\bar n_i` the most that fit into the cluster by volume; P_i the most progress in a slot.

Variables: y_it completes by slot t and earns u_it; z_it runs inside one machine, q_it spread over
machines; wI_it, wE_it workers of the two kinds; s_it servers. All integer.

.. math::
    \max\ & \sum_{i,t} u_i(t - a_i)\, y_{it} && (19) \\
    & \sum_t y_{it} \le 1 && (20) \\
    & z_{it} + q_{it} \le \sum_{t' \ge t} y_{it'} && (22) \\
    & w^I_{it} \le M_i z_{it}, \quad w^E_{it} \le \bar n_i q_{it} && (23), (24) \\
    & \gamma_i s_{it} \ge w^I_{it} + w^E_{it}, \quad s_{it} \ge z_{it} + q_{it} && (23), (24) \\
    & \textstyle\sum_i \alpha_i^r (w^I + w^E)_{it} + \beta_i^r s_{it} \le \sum_h C_h^r && (25) \\
    \text{S2}\quad & \textstyle\sum_{t' \le t} (\sigma_i w^I + w^E)_{it'} \ge
        W_i \sum_{t' \le t} y_{it'} + \sum_{t' > t} \max(0, W_i - (t' - t) P_i)\, y_{it'} \\
    \text{S3}\quad & \textstyle\sum_{t' \le t} (w^I + w^E)_{it'} \ge
        \sum_{t'} N_i(\min(t, t') - a_i + 1,\ W_i - (t' - t)^+ P_i)\, y_{it'} \\
    & \textstyle\sum_{t' \le t} s_{it'} \ge \sum_{t'} \lceil N_i(\cdot) / \gamma_i \rceil\, y_{it'}

S1 is in D_i: no slot earlier than the work allows. S2 holds because the slots after t bring at most
P_i each. In S3, N_i(k, v) is the least number of worker-slots that make progress v within k slots
(`least_workers`): internal ones count more, but a slot has room for only M_i of them, so an early
completion costs more worker-slots than a late one. That is stronger than the same row with
:math:`\lceil W_i / \sigma_i \rceil` throughout.

The workers of a slot need not fit onto its single machines, so the optimum is an upper bound on
that of the problem.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.exact import ROUNDING
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ..instance import PdOrsInstance
from ..terms import JobTerms


def completions(job: JobTerms) -> tuple[int, ...]:
    """D_i: completion slots that earn more than the next one would; none if the job earns nothing.

    Of slots with equal utility the last asks for the least.
    """
    if job.earliest is None:
        return ()
    u = np.append(job.utility, 0.0)
    return tuple(t for t in range(job.earliest, len(u) - 1) if u[t] > u[t + 1])


def useful_jobs(instance: PdOrsInstance) -> list[JobTerms]:
    """Jobs that can complete while they are worth something."""
    return [job for job in instance.terms.jobs if completions(job)]


def most_inside(job: JobTerms) -> int:
    """M_i, the most workers on one machine; 0 where they gain nothing over spread ones."""
    if job.sigma == 1 and job.most_external:
        return 0
    return int(job.most_internal.max())


def least_workers(job: JobTerms, slots: int, progress: Fraction) -> int:
    """N_i(k, v): the least worker-slots for progress v within k slots, by volume.

    Internal worker-slots are better and there is room for M_i a slot, so the fewest slots that have
    to be external are: j of them, and A = min(ceil(v / sigma), (k - j) M_i) internal worker-slots.

    Parameters
    ----------
    job : JobTerms
    slots : int
        k.
    progress : Fraction
        v in external worker-slots; at most k P_i.
    """
    if progress <= 0:
        return 0
    inside = most_inside(job)
    for external in range(slots + 1):
        a = min(math.ceil(progress / job.sigma), (slots - external) * inside)
        b = max(0, math.ceil(progress - job.sigma * a))
        if b <= external * job.most_external:
            return a + b
    raise ValueError(f"progress {progress} is not possible in {slots} slots")


@formulation(
    model_class="MILP",
    strength="relaxation",
    equations="(19), (20), (22)-(25) without machines, S1-S3 (reconstructed)",
    objective_error=ROUNDING,
)
def build(instance: PdOrsInstance) -> pyo.ConcreteModel:
    """Every slot as one large machine, strengthened.

    Raises
    ------
    ModelRefused
        If no job can complete while it is worth something.
    """
    terms = instance.terms
    jobs = {job.index: job for job in useful_jobs(instance)}
    if not jobs:
        raise ModelRefused("no job can complete within the horizon while it is worth something")
    D = {i: completions(job) for i, job in jobs.items()}
    P = {i: job.most_progress for i, job in jobs.items()}
    capacity = terms.capacity.sum(axis=0)

    m = pyo.ConcreteModel("aggregated")
    m.I = pyo.Set(initialize=list(jobs))
    m.R = pyo.RangeSet(0, len(instance.resources) - 1)
    m.IT = pyo.Set(
        dimen=2, initialize=[(i, t) for i in jobs for t in range(jobs[i].arrival, D[i][-1] + 1)]
    )
    m.ID = pyo.Set(dimen=2, initialize=[(i, t) for i in jobs for t in D[i]])
    m.T = pyo.Set(initialize=sorted({t for _, t in m.IT}))

    m.y = pyo.Var(m.ID, domain=pyo.Binary, doc="completes by slot t")
    m.z = pyo.Var(m.IT, domain=pyo.Binary, doc="runs inside one machine")
    m.q = pyo.Var(m.IT, domain=pyo.Binary, doc="runs spread over machines")
    m.wI = pyo.Var(
        m.IT,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, i, t: (0, most_inside(jobs[i])),
        doc="workers inside one machine",
    )
    m.wE = pyo.Var(
        m.IT,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, i, t: (0, jobs[i].most_external),
        doc="workers spread over machines",
    )
    m.s = pyo.Var(
        m.IT,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, i, t: (0, int(jobs[i].servers[-1])),
        doc="servers",
    )

    def workers(i: int, t: int) -> Any:
        return m.wI[i, t] + m.wE[i, t]

    def slots_until(i: int, t: int) -> range:
        return range(jobs[i].arrival, t + 1)

    def due(i: int, t: int) -> list[tuple[int, int, Fraction]]:
        """Number of slots by t, and the work due in them, by completion slot t'."""
        job = jobs[i]
        return [
            (d, min(t, d) - job.arrival + 1, job.work - max(0, d - t) * P[i])
            for d in D[i]
            if job.work > max(0, d - t) * P[i]
        ]

    @m.Constraint(m.I, doc="(20) one completion slot at most")
    def one_completion(m: Any, i: int) -> Any:
        return sum(m.y[i, t] for t in D[i]) <= 1

    @m.Constraint(m.IT, doc="(22) one mode per slot, none after completion")
    def one_mode(m: Any, i: int, t: int) -> Any:
        return m.z[i, t] + m.q[i, t] <= sum(m.y[i, d] for d in D[i] if d >= t)

    @m.Constraint(m.IT, doc="(23) inside one machine")
    def inside(m: Any, i: int, t: int) -> Any:
        return m.wI[i, t] <= most_inside(jobs[i]) * m.z[i, t]

    @m.Constraint(m.IT, doc="(24) spread over machines")
    def spread(m: Any, i: int, t: int) -> Any:
        return m.wE[i, t] <= jobs[i].most_external * m.q[i, t]

    @m.Constraint(m.IT, doc="(23), (24) workers per server")
    def ratio(m: Any, i: int, t: int) -> Any:
        supported = coefficient(jobs[i].gamma) * m.s[i, t]
        if instance.ratio == "exact":
            return supported == workers(i, t)
        return supported >= workers(i, t)

    @m.Constraint(m.IT, doc="(23), (24) a running job has a server")
    def a_server(m: Any, i: int, t: int) -> Any:
        return m.s[i, t] >= m.z[i, t] + m.q[i, t]

    @m.Constraint(m.T, m.R, doc="(25) capacity of all machines together")
    def capacity_of_slot(m: Any, t: int, r: int) -> Any:
        use = sum(
            int(jobs[i].alpha[r]) * workers(i, t) + int(jobs[i].beta[r]) * m.s[i, t]
            for i in jobs
            if (i, t) in m.IT
        )
        return pyo.Constraint.Skip if isinstance(use, int) else use <= int(capacity[r])

    @m.Constraint(m.IT, doc="S2: progress by slot t")
    def progress(m: Any, i: int, t: int) -> Any:
        job = jobs[i]
        slack = job.work - job.work_level
        rows = [(d, coefficient(v - slack)) for d, _, v in due(i, t)]
        if not rows:
            return pyo.Constraint.Skip
        done = sum(coefficient(job.sigma) * m.wI[i, s] + m.wE[i, s] for s in slots_until(i, t))
        return done >= sum(v * m.y[i, d] for d, v in rows)

    @m.Constraint(m.IT, doc="S3: worker-slots by slot t")
    def worker_slots(m: Any, i: int, t: int) -> Any:
        rows = [(d, least_workers(jobs[i], k, v)) for d, k, v in due(i, t)]
        if not rows:
            return pyo.Constraint.Skip
        return sum(workers(i, s) for s in slots_until(i, t)) >= sum(n * m.y[i, d] for d, n in rows)

    @m.Constraint(m.IT, doc="S3: server-slots by slot t")
    def server_slots(m: Any, i: int, t: int) -> Any:
        job = jobs[i]
        rows = [(d, job.least_server_slots(least_workers(job, k, v))) for d, k, v in due(i, t)]
        if not rows:
            return pyo.Constraint.Skip
        return sum(m.s[i, s] for s in slots_until(i, t)) >= sum(n * m.y[i, d] for d, n in rows)

    m.total_utility = pyo.Objective(
        expr=sum(float(jobs[i].utility[t]) * m.y[i, t] for i, t in m.ID), sense=pyo.maximize
    )
    return m
