r"""F1: how many tasks of each job are on each server, for additive slowdowns.

Variables: :math:`x_{js}` tasks of job j on server s, :math:`w_{js} = 1` if there is one,
:math:`\mu_j` and :math:`\chi_j = 1` if the job lies on several servers and in several racks,
:math:`\rho_{jr} = 1` if it is in rack r, :math:`\sigma_j` its slowdown, :math:`t_j` the time of an
iteration, and products :math:`p_{jks} = w_{js} w_{ks}` for j < k.

.. math::
    \min\ & \tfrac{1}{|J|} \sum_j W_j t_j                                              \tag{F1} \\
    & \sum_s x_{js} = n_j                                                              \tag{1} \\
    & w_{js} \le x_{js} \le \min(n_j, \lfloor G_s / g_j \rfloor) w_{js}                \tag{2} \\
    & \sum_j g_j x_{js} \le G_s, \quad \sum_j u_j x_{js} \le U_s                       \tag{3} \\
    & w_{js} \le \rho_{j r(s)}, \quad \sum_s w_{js} \le 1 + (\min(n_j, |S|) - 1) \mu_j,
      \quad \sum_r \rho_{jr} \le 1 + (|R| - 1) \chi_j, \quad \chi_j \le \mu_j          \tag{4} \\
    & p_{jks} \ge w_{js} + w_{ks} - 1, \quad
      \sigma_j \ge \sum_{k \ne j} \alpha_{jk} p_{jks} \ \ \forall s                    \tag{5} \\
    & t_j \ge t^0_j (1 + \sigma_j) + \beta^{rack}_j \mu_j
      + (\beta^{cross}_j - \beta^{rack}_j) \chi_j                                      \tag{6}

`big_m` replaces (5) by :math:`\sigma_j \ge \sum_k \alpha_{jk} w_{ks} - (1 - w_{js}) \sum_k
\alpha_{jk}`, `nonconvex` by the product itself, :math:`\sigma_j \ge w_{js} \sum_k \alpha_{jk}
w_{ks}`. With `per_task` the products and sums have :math:`x_{ks}` where they have
:math:`w_{ks}`. Fixed beforehand: :math:`\mu_j = 0` of jobs of one task, :math:`\mu_j = 1` where no
server holds all tasks, and :math:`\chi_j` likewise. The linear relaxations of the first two are no
better than every job alone.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ..instance import PlacementInstance, PlacementSolution

#: Triples of two jobs and a server for which a model is built. Tuned: `benchmarks/constants.py`.
MOST_TRIPLES = 300_000

Products = Literal["mccormick", "big_m", "nonconvex"]


@formulation(model_class="MILP", equations="F1 (1)-(6) (reconstructed)")
def build(instance: PlacementInstance) -> pyo.ConcreteModel:
    """Tasks of jobs on servers, with products of two jobs on a server linearised."""
    return build_with(instance, "mccormick")


@formulation(
    name="assignment_big_m", model_class="MILP", equations="F1 (1)-(4), big-M, (6) (reconstructed)"
)
def build_big_m(instance: PlacementInstance) -> pyo.ConcreteModel:
    """Tasks of jobs on servers, with slowdowns enforced where the job is."""
    return build_with(instance, "big_m")


@formulation(
    name="assignment_nonconvex",
    model_class="MINLP",
    equations="F1 (1)-(4), products, (6) (reconstructed)",
    backends=("scip",),
)
def build_nonconvex(instance: PlacementInstance) -> pyo.ConcreteModel:
    """Tasks of jobs on servers, with products of variables."""
    return build_with(instance, "nonconvex")


def check_additive(instance: PlacementInstance) -> None:
    """Refuse instances with measured slowdowns.

    Raises
    ------
    ModelRefused
    """
    if not instance.additive:
        raise ModelRefused("measured: F1 needs slowdowns that are sums over the other jobs")


def check_plain(instance: PlacementInstance) -> None:
    """Refuse instances with boards.

    Raises
    ------
    ModelRefused
    """
    if instance.boards:
        raise ModelRefused("boards: only patterns, ring_assignment and price_and_close know them")


def build_with(instance: PlacementInstance, products: Products) -> pyo.ConcreteModel:
    """Build (F1) with one of the three forms of (5).

    Raises
    ------
    ModelRefused
        If there are boards, slowdowns are measured, or pairs of jobs on servers are too many.
    """
    check_plain(instance)
    m = build_rows(instance, products)
    # (6), with t_j in the objective.
    m.mean_completion_s = pyo.Objective(expr=mean_completion_s(m, instance), doc="(F1)")
    return m


def build_rows(instance: PlacementInstance, products: Products) -> pyo.ConcreteModel:
    """Build (F1) without its objective."""
    check_additive(instance)
    jobs, servers = instance.jobs, instance.servers
    pairs = len(jobs) * (len(jobs) - 1) * len(servers)
    if pairs > MOST_TRIPLES:
        raise ModelRefused(f"{pairs} pairs of jobs on servers, expected at most {MOST_TRIPLES}")
    fit = {(j, s): instance.most_tasks(j, s) for j in range(len(jobs)) for s in range(len(servers))}
    m = pyo.ConcreteModel("F1")
    m.J = pyo.RangeSet(0, len(jobs) - 1)
    m.S = pyo.RangeSet(0, len(servers) - 1)
    m.R = pyo.Set(initialize=instance.racks)
    m.x = pyo.Var(m.J, m.S, domain=pyo.NonNegativeIntegers, bounds=lambda m, j, s: (0, fit[j, s]))
    m.w = pyo.Var(m.J, m.S, domain=pyo.Binary, doc="job j has a task on server s")
    m.mu = pyo.Var(m.J, domain=pyo.Binary, doc="job j lies on several servers")
    m.chi = pyo.Var(m.J, domain=pyo.Binary, doc="job j lies in several racks")
    m.rho = pyo.Var(m.J, m.R, domain=pyo.Binary, doc="job j is in rack r")
    m.sigma = pyo.Var(m.J, bounds=lambda m, j: (0, most_slowdown(instance, j)))

    @m.Constraint(m.J, doc="(1): all tasks are placed")
    def placed(m: Any, j: int) -> Any:
        return sum(m.x[j, s] for s in m.S) == jobs[j].num_tasks

    @m.Constraint(m.J, m.S, doc="(2)")
    def some(m: Any, j: int, s: int) -> Any:
        return m.w[j, s] <= m.x[j, s]

    @m.Constraint(m.J, m.S, doc="(2)")
    def no_more(m: Any, j: int, s: int) -> Any:
        return m.x[j, s] <= fit[j, s] * m.w[j, s]

    @m.Constraint(m.S, doc="(3): GPUs")
    def gpus(m: Any, s: int) -> Any:
        used = sum(jobs[j].gpus_per_task * m.x[j, s] for j in m.J if jobs[j].gpus_per_task)
        return used <= servers[s].gpus if not isinstance(used, int) else pyo.Constraint.Skip

    @m.Constraint(m.S, doc="(3): CPUs")
    def cpus(m: Any, s: int) -> Any:
        used = sum(jobs[j].cpus_per_task * m.x[j, s] for j in m.J if jobs[j].cpus_per_task)
        return used <= servers[s].cpus if not isinstance(used, int) else pyo.Constraint.Skip

    _add_spread(m, instance)
    _add_slowdowns(m, instance, products)
    return m


def mean_completion_s(m: pyo.ConcreteModel, instance: PlacementInstance) -> Any:
    """Return the objective, with t_j as (6) has it."""
    terms = []
    for j, job in enumerate(instance.jobs):
        share = Fraction(job.iterations, len(instance.jobs))
        terms += [
            coefficient(share * job.base_iteration_s) * (1 + m.sigma[j]),
            coefficient(share * job.rack_comm_s) * m.mu[j],
            coefficient(share * (job.cross_comm_s - job.rack_comm_s)) * m.chi[j],
        ]
    return sum(terms)


def most_slowdown(instance: PlacementInstance, j: int) -> Fraction:
    """Return a slowdown that no content of a server exceeds."""
    row = instance.interference[instance.jobs[j].type]
    worst = Fraction(0)
    for k, job in enumerate(instance.jobs):
        if k != j:
            worst += row[job.type] * (job.num_tasks if instance.per_task else 1)
    return worst


def _add_spread(m: pyo.ConcreteModel, instance: PlacementInstance) -> None:
    """(4): jobs on several servers and in several racks."""
    jobs, servers = instance.jobs, instance.servers
    together, in_rack = set(), set()
    for j, job in enumerate(jobs):
        room = dict.fromkeys(instance.racks, 0)
        for s, server in enumerate(servers):
            room[server.rack] += instance.most_tasks(j, s)
            if instance.most_tasks(j, s) == job.num_tasks:
                together.add(j)
        if max(room.values()) >= job.num_tasks:
            in_rack.add(j)
    for j, job in enumerate(jobs):
        if job.num_tasks == 1:
            m.mu[j].fix(0)
        elif j not in together:
            m.mu[j].fix(1)
        if job.num_tasks == 1 or len(instance.racks) == 1:
            m.chi[j].fix(0)
        elif j not in in_rack:
            m.chi[j].fix(1)

    @m.Constraint(m.J, m.S, doc="(4): racks in use")
    def in_its_rack(m: Any, j: int, s: int) -> Any:
        return m.w[j, s] <= m.rho[j, servers[s].rack]

    @m.Constraint(m.J, doc="(4): servers in use")
    def several_servers(m: Any, j: int) -> Any:
        most = min(jobs[j].num_tasks, len(servers)) - 1
        return sum(m.w[j, s] for s in m.S) <= 1 + most * m.mu[j]

    @m.Constraint(m.J, doc="(4): racks in use")
    def several_racks(m: Any, j: int) -> Any:
        return sum(m.rho[j, r] for r in m.R) <= 1 + (len(m.R) - 1) * m.chi[j]

    @m.Constraint(m.J, doc="(4): several racks are several servers")
    def racks_are_servers(m: Any, j: int) -> Any:
        if m.chi[j].fixed and m.mu[j].fixed:
            return pyo.Constraint.Skip
        return m.chi[j] <= m.mu[j]


def _add_slowdowns(m: pyo.ConcreteModel, instance: PlacementInstance, products: Products) -> None:
    """(5): the slowdown on the worst server."""
    jobs, per_task = instance.jobs, instance.per_task

    def alpha(j: int, k: int) -> int | Fraction:
        return coefficient(instance.interference[jobs[j].type][jobs[k].type])

    def weight(k: int, s: int) -> Any:
        return m.x[k, s] if per_task else m.w[k, s]

    def most(k: int, s: int) -> int:
        return instance.most_tasks(k, s) if per_task else 1

    others = {j: [k for k in m.J if k != j and alpha(j, k)] for j in m.J}
    m.JS = pyo.Set(dimen=2, initialize=[(j, s) for j in m.J for s in m.S if others[j]])
    if products == "nonconvex":

        @m.Constraint(m.JS, doc="(5): products of variables")
        def slowdown(m: Any, j: int, s: int) -> Any:
            disturbed = sum(alpha(j, k) * m.w[j, s] * weight(k, s) for k in others[j])
            return disturbed <= m.sigma[j]

    elif products == "big_m":

        @m.Constraint(m.JS, doc="(5): where the job is")
        def slowdown(m: Any, j: int, s: int) -> Any:
            disturbed = sum(alpha(j, k) * weight(k, s) for k in others[j])
            worst = sum(alpha(j, k) * most(k, s) for k in others[j])
            return m.sigma[j] >= disturbed - worst * (1 - m.w[j, s])

    else:
        ordered = {(j, k) if per_task else (min(j, k), max(j, k)) for j in m.J for k in others[j]}
        m.JKS = pyo.Set(dimen=3, initialize=[(j, k, s) for j, k in sorted(ordered) for s in m.S])
        m.p = pyo.Var(
            m.JKS, bounds=lambda m, j, k, s: (0, most(k, s)), doc="both jobs are on the server"
        )

        @m.Constraint(m.JKS, doc="(5): products")
        def both(m: Any, j: int, k: int, s: int) -> Any:
            return m.p[j, k, s] >= weight(k, s) - most(k, s) * (1 - m.w[j, s])

        @m.Constraint(m.JS, doc="(5): the sum over the other jobs")
        def slowdown(m: Any, j: int, s: int) -> Any:
            return m.sigma[j] >= sum(
                alpha(j, k) * (m.p[j, k, s] if (j, k, s) in m.JKS else m.p[k, j, s])
                for k in others[j]
            )


def decode(m: pyo.ConcreteModel, instance: PlacementInstance) -> PlacementSolution:
    """Return the tasks of every job on the servers."""
    return PlacementSolution.of([{s: round(pyo.value(m.x[j, s])) for s in m.S} for j in m.J])
