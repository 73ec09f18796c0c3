r"""The whole horizon as a time-indexed mixed-integer program with locality.

Reconstructed. Sets: jobs i that can complete while they are worth something, machines h, resources
r, slots t from a_i to the last completion slot of D_i (`aggregated.completions`).

Parameters: :math:`\sigma_i \ge 1`, what a worker-slot inside one machine counts; W_i the work,
gamma, alpha, beta, C; M_ih the most workers on machine h with their servers;
:math:`\bar w_{ih}, \bar s_{ih}` most workers or servers alone; :math:`\bar n_i` most workers that
fit into the cluster by volume; P_i the most progress in a slot.

Variables: y_it job i completes by slot t and earns u_it; z_iht it runs inside machine h, q_it it is
spread; wI, sI, wE, sE workers and servers of the two kinds, integers. With
:math:`prog_{it} = \sum_h (\sigma_i w^I_{iht} + w^E_{iht})`,

.. math::
    \max\ & \sum_{i,t} u_i(t - a_i)\, y_{it}                                    \tag{19} \\
    & \sum_t y_{it} \le 1                                                       \tag{20} \\
    & \sum_{t' \le t} prog_{it'} \ge W_i \sum_{t' \le t} y_{it'}                \tag{21} \\
    & \sum_h z_{iht} + q_{it} \le \sum_{t' \ge t} y_{it'}                       \tag{22} \\
    & w^I_{iht} \le M_{ih} z_{iht}, \quad
        s^I_{iht} \le \lceil M_{ih} / \gamma_i \rceil z_{iht}, \quad
        \gamma_i s^I_{iht} \ge w^I_{iht}                                        \tag{23} \\
    & w^E_{iht} \le \bar w_{ih} q_{it}, \quad s^E_{iht} \le \bar s_{ih} q_{it}, \quad
        \sum_h w^E_{iht} \le \bar n_i q_{it}, \quad
        \gamma_i \sum_h s^E_{iht} \ge \sum_h w^E_{iht}                          \tag{24} \\
    & \sum_i \alpha_i^r (w^I + w^E)_{iht} + \beta_i^r (s^I + s^E)_{iht} \le C_h^r \tag{25}

It is equivalent to (1)-(9): the support of a job in a slot says z or q, its completion y; the other
way round a job completes no later than y says, at no less than the speed of z and q, and u_i does
not increase. `build_plain` is this. `build` has (21) and more replaced by

* S1: no y before the work can be done (D_i again);
* S2: :math:`\sum_{t' \le t} prog_{it'} \ge W_i \sum_{t' \le t} y_{it'}
  + \sum_{t' > t} \max(0, W_i - (t' - t) P_i)\, y_{it'}`, as slots bring at most P_i each;
* S3: :math:`\sum_{t' \le t} \sum_h (w^I + w^E)_{iht'} \ge N_i \sum_{t' \le t} y_{it'}` with the
  fewest worker-slots that can suffice, :math:`N_i = \lceil W_i / \sigma_i \rceil` (Chvatal-Gomory);
* S4: :math:`s^I_{iht} \ge z_{iht}` and :math:`\sum_h s^E_{iht} \ge q_{it}`.

Its linear relaxation is much stronger. Ordering equal machines makes HiGHS slower and is left out.
W_i stands in rows as the middle between sufficient and insufficient work (`JobTerms.work_level`).
Internal blocks are left out where they gain nothing over spread ones.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.exact import ROUNDING
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ..instance import PdOrsInstance, PdOrsSolution
from ..subproblems.decoding import slot_plan, solution
from ..terms import JobTerms
from .aggregated import completions, useful_jobs

#: Triples of job, machine and slot for which a model is built; that takes ten seconds.
#: Tuned: `benchmarks/constants.py`.
MOST_TRIPLES = 50_000


@formulation(
    model_class="MILP",
    equations="(19), (20), (22)-(25), S1-S4 (reconstructed)",
    objective_error=ROUNDING,
)
def build(instance: PdOrsInstance) -> pyo.ConcreteModel:
    """Time-indexed with locality, strengthened.

    Raises
    ------
    ModelRefused
        If there are more than `MOST_TRIPLES` triples of job, machine and slot.
    """
    jobs = {job.index: job for job in useful_jobs(instance)}
    D = {i: completions(job) for i, job in jobs.items()}
    m = _time_indexed(instance, jobs, D)

    @m.Constraint(m.IT, doc="S2: progress by slot t, whenever the job completes")
    def progress_by(m: Any, i: int, t: int) -> Any:
        due = {d: _due(jobs[i], t, d) for d in D[i] if _due(jobs[i], t, d) > 0}
        if not due:
            return pyo.Constraint.Skip
        done = sum(m.prog[i, k] for k in range(jobs[i].arrival, t + 1))
        return done >= sum(level * m.y[i, d] for d, level in due.items())

    @m.Constraint(m.Y, doc="S3: worker-slots by slot t")
    def worker_slots_by(m: Any, i: int, t: int) -> Any:
        done = sum(m.workers[i, k] for k in range(jobs[i].arrival, t + 1))
        return done >= jobs[i].least_worker_slots * sum(m.y[i, d] for d in D[i] if d <= t)

    @m.Constraint(m.IHT, doc="S4: an internal block has a server")
    def internal_server(m: Any, i: int, h: int, t: int) -> Any:
        return m.sI[i, h, t] >= m.z[i, h, t]

    @m.Constraint(m.IX, doc="S4: a spread job has a server")
    def external_server(m: Any, i: int, t: int) -> Any:
        return sum(m.sE[i, h, t] for h in m.H) >= m.q[i, t]

    return m


@formulation(
    name="compact_plain",
    model_class="MILP",
    equations="(19)-(25) (reconstructed)",
    objective_error=ROUNDING,
)
def build_plain(instance: PdOrsInstance) -> pyo.ConcreteModel:
    """Time-indexed with locality.

    Build (19)-(25) as they stand; refused as `build` is.
    """
    jobs = {job.index: job for job in useful_jobs(instance)}
    slots = {i: tuple(range(job.arrival, _last(job) + 1)) for i, job in jobs.items()}
    m = _time_indexed(instance, jobs, slots)

    @m.Constraint(m.Y, doc="(21): enough work by slot t")
    def progress_by(m: Any, i: int, t: int) -> Any:
        done = sum(m.prog[i, k] for k in range(jobs[i].arrival, t + 1))
        return done >= jobs[i].work_level * sum(m.y[i, d] for d in slots[i] if d <= t)

    return m


def decode(m: pyo.ConcreteModel, instance: PdOrsInstance) -> PdOrsSolution:
    """Read the workers and servers of the jobs that complete, by z and q."""
    jobs = instance.terms.jobs
    plans = {}
    for i in m.I:
        if sum(pyo.value(m.y[k, t]) for k, t in m.Y if k == i) < 0.5:
            continue
        slots = [t for k, t in m.IT if k == i]
        plans[i] = [slot_plan(jobs[i], t, _counts(m, i, t)) for t in slots]
    return solution(instance, plans)


def _counts(m: pyo.ConcreteModel, i: int, t: int) -> dict[int, tuple[int, int]]:
    for h in m.H:
        if (i, h, t) in m.IHT and pyo.value(m.z[i, h, t]) > 0.5:
            return {h: (round(pyo.value(m.wI[i, h, t])), round(pyo.value(m.sI[i, h, t])))}
    if (i, t) in m.IX and pyo.value(m.q[i, t]) > 0.5:
        return {h: (round(pyo.value(m.wE[i, h, t])), round(pyo.value(m.sE[i, h, t]))) for h in m.H}
    return {}


def internal_machines(job: JobTerms) -> dict[int, int]:
    """Return M_ih of the machines in which a job gains from running, which may be none."""
    if job.sigma == 1 and job.most_external:
        return {}  # a job inside one machine is then a spread job as well
    return {h: n for h, n in enumerate(job.most_internal.tolist()) if n}


def _due(job: JobTerms, t: int, d: int) -> Fraction:
    """Return the progress by slot t of a job that completes in slot d."""
    return job.work_level - max(0, d - t) * job.most_progress


def _last(job: JobTerms) -> int:
    return completions(job)[-1]


def refuse_too_many(triples: int) -> None:
    """Refuse a model of too many triples of job, machine and slot.

    Raises
    ------
    ModelRefused
        If there are more than `MOST_TRIPLES`.
    """
    if triples > MOST_TRIPLES:
        raise ModelRefused(
            f"{triples} triples of job, machine and slot are too many for a model of all of them"
        )


def _time_indexed(
    instance: PdOrsInstance, jobs: dict[int, JobTerms], slots: dict[int, tuple[int, ...]]
) -> pyo.ConcreteModel:
    """Build all but the rows of work; job i may complete in `slots[i]`."""
    C = instance.terms.capacity.tolist()
    M = {i: internal_machines(job) for i, job in jobs.items()}
    spread = [i for i, job in jobs.items() if job.most_external]
    active = {i: range(job.arrival, _last(job) + 1) for i, job in jobs.items()}
    refuse_too_many(len(C) * sum(map(len, active.values())))

    m = pyo.ConcreteModel("compact")
    m.I = pyo.Set(initialize=list(jobs))
    m.H = pyo.RangeSet(0, len(C) - 1)
    m.R = pyo.RangeSet(0, len(instance.resources) - 1)
    m.Y = pyo.Set(dimen=2, initialize=[(i, t) for i in jobs for t in slots[i]])
    m.IT = pyo.Set(dimen=2, initialize=[(i, t) for i in jobs for t in active[i]])
    m.IHT = pyo.Set(dimen=3, initialize=[(i, h, t) for i in jobs for h in M[i] for t in active[i]])
    m.IX = pyo.Set(dimen=2, initialize=[(i, t) for i in spread for t in active[i]])
    m.XHT = pyo.Set(dimen=3, initialize=[(i, h, t) for i, t in m.IX for h in m.H])
    m.T = pyo.Set(initialize=sorted({t for _, t in m.IT}))

    m.y = pyo.Var(m.Y, domain=pyo.Binary, doc="completes by slot t")
    m.z = pyo.Var(m.IHT, domain=pyo.Binary, doc="runs inside machine h")
    m.q = pyo.Var(m.IX, domain=pyo.Binary, doc="runs spread over machines")

    def counts(index: Any, most: Any, doc: str) -> Any:
        return pyo.Var(
            index,
            domain=pyo.NonNegativeIntegers,
            bounds=lambda m, i, h, t: (0, int(most(jobs[i], h))),
            doc=doc,
        )

    m.wI = counts(m.IHT, lambda job, h: job.most_internal[h], "workers inside machine h")
    m.sI = counts(m.IHT, lambda job, h: job.servers[job.most_internal[h]], "servers inside it")
    m.wE = counts(m.XHT, lambda job, h: job.most_workers_on[h], "workers of a spread job")
    m.sE = counts(m.XHT, lambda job, h: job.most_servers_on[h], "servers of a spread job")

    def of_slot(i: int, t: int, inside: Any, outside: Any) -> Any:
        return sum(inside[i, h, t] for h in M[i]), sum(
            outside[i, h, t] for h in m.H if jobs[i].most_external
        )

    @m.Expression(m.IT, doc="progress in slot t, in external worker-slots")
    def prog(m: Any, i: int, t: int) -> Any:
        internal, external = of_slot(i, t, m.wI, m.wE)
        return coefficient(jobs[i].sigma) * internal + external

    @m.Expression(m.IT, doc="workers in slot t")
    def workers(m: Any, i: int, t: int) -> Any:
        return sum(of_slot(i, t, m.wI, m.wE))

    @m.Constraint(m.I, doc="(20): at most one completion slot")
    def one_completion(m: Any, i: int) -> Any:
        return sum(m.y[i, t] for t in slots[i]) <= 1

    @m.Constraint(m.IT, doc="(22): one mode per slot, none after completion")
    def one_mode(m: Any, i: int, t: int) -> Any:
        modes = [m.z[i, h, t] for h in M[i]] + ([m.q[i, t]] if (i, t) in m.IX else [])
        return sum(modes) <= sum(m.y[i, d] for d in slots[i] if d >= t)

    @m.Constraint(m.IHT, doc="(23): workers of an internal block")
    def internal_workers(m: Any, i: int, h: int, t: int) -> Any:
        return m.wI[i, h, t] <= M[i][h] * m.z[i, h, t]

    @m.Constraint(m.IHT, doc="(23): servers of an internal block")
    def internal_servers(m: Any, i: int, h: int, t: int) -> Any:
        return m.sI[i, h, t] <= int(jobs[i].servers[M[i][h]]) * m.z[i, h, t]

    @m.Constraint(m.IHT, doc="(23): workers per server of an internal block")
    def internal_ratio(m: Any, i: int, h: int, t: int) -> Any:
        return _ratio(instance, jobs[i], m.wI[i, h, t], m.sI[i, h, t])

    @m.Constraint(m.XHT, doc="(24): workers of a spread job on a machine")
    def external_workers_on(m: Any, i: int, h: int, t: int) -> Any:
        return m.wE[i, h, t] <= int(jobs[i].most_workers_on[h]) * m.q[i, t]

    @m.Constraint(m.XHT, doc="(24): servers of a spread job on a machine")
    def external_servers_on(m: Any, i: int, h: int, t: int) -> Any:
        return m.sE[i, h, t] <= int(jobs[i].most_servers_on[h]) * m.q[i, t]

    @m.Constraint(m.IX, doc="(24): workers of a spread job")
    def external_workers(m: Any, i: int, t: int) -> Any:
        return sum(m.wE[i, h, t] for h in m.H) <= jobs[i].most_external * m.q[i, t]

    @m.Constraint(m.IX, doc="(24): workers per server of a spread job")
    def external_ratio(m: Any, i: int, t: int) -> Any:
        w, s = sum(m.wE[i, h, t] for h in m.H), sum(m.sE[i, h, t] for h in m.H)
        return _ratio(instance, jobs[i], w, s)

    @m.Constraint(m.T, m.H, m.R, doc="(25): capacity")
    def capacity(m: Any, t: int, h: int, r: int) -> Any:
        used = 0
        for i, job in jobs.items():
            alpha, beta = int(job.alpha[r]), int(job.beta[r])
            if (i, h, t) in m.IHT:
                used += alpha * m.wI[i, h, t] + beta * m.sI[i, h, t]
            if (i, h, t) in m.XHT:
                used += alpha * m.wE[i, h, t] + beta * m.sE[i, h, t]
        return pyo.Constraint.Skip if isinstance(used, int) else used <= C[h][r]

    m.total_utility = pyo.Objective(
        expr=sum(float(jobs[i].utility[t]) * m.y[i, t] for i, t in m.Y),
        sense=pyo.maximize,
        doc="(19)",
    )
    return m


def _ratio(instance: PdOrsInstance, job: JobTerms, workers: Any, servers: Any) -> Any:
    supported = coefficient(job.gamma) * servers
    return supported == workers if instance.ratio == "exact" else supported >= workers
