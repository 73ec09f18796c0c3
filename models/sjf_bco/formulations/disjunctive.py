r"""Generalized disjunctive program (GDP) of the scheduling problem, in two reformulations.

A teaching model (reconstructed): no indicator arithmetic, only two families of disjunctions. For
every job j and server s (J2 are the jobs that can be spread),

.. math::
    \begin{bmatrix} y_{js} = 0 \\ u_{js} = 0 \\ n_{js} = 0 \end{bmatrix} \vee
    \begin{bmatrix} 1 \le y_{js} \le G_j - 1 \\ u_{js} = 1 \\ n_{js} = 1 \end{bmatrix} \vee
    \begin{bmatrix} y_{js} = G_j \\ u_{js} = 1 \\ n_{js} = 0 \end{bmatrix} \qquad \text{(GDP-1)}

(the second if G_j >= 2, the third if O_s >= G_j), and for every job j and slot t

.. math::
    \begin{bmatrix} x_{jt} = 0,\ \phi_{jt} = 0 \\ g_{jst} = q_{jst} = 0\ \forall s \end{bmatrix}
    \vee \bigvee_{r, p}
    \begin{bmatrix} x_{jt} = 1,\ \textstyle\sum_s u_{js} = r,\ \phi_{jt} = \phi_j(r, p) \\
      g_{jst} = y_{js},\ q_{jst} = n_{js}\ \forall s \\
      mk \ge t + 1 \\
      \textstyle\sum_i q_{ist} \le p + P (1 - q_{jst})\ \forall s \end{bmatrix}
    \qquad \text{(GDP-2)}

linked by

.. math::
    \text{GDP-3}\quad & \sum_s y_{js} = G_j \\
    \text{GDP-4}\quad & \sum_j g_{jst} \le O_s \\
    \text{GDP-5}\quad & \sum_t \phi_{jt} \ge F_j \\
    \text{GDP-6}\quad & x_{jt} = x_{j,t-1} + z_{jt} - w_{jt}, \quad
        \sum_t z_{jt} = \sum_t w_{jt} = 1

Two exact MILPs follow. The hull reformulation has the stronger LP relaxation but a copy of every
variable per case; big-M is smaller. Both are for instances of two or three jobs.
"""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo  # with the transformations of disjunctions

from gadgetopt.system.declaring import formulation

from ..instance import SjfBcoInstance
from ..size_limits import refuse_many_slots
from ..subproblems.greedy import default_horizon
from .nonconvex import fastest_rate
from .time_indexed import decode, distinct_levels

#: Limit on terms: each appears in several disjuncts, with own variables and constraints.
#: Tuned: `benchmarks/constants.py`.
MOST_TERMS = 100_000

__all__ = ["build_bigm", "build_disjunctive", "build_hull", "decode"]


def build_disjunctive(instance: SjfBcoInstance, horizon: int | None = None) -> pyo.ConcreteModel:
    """Build GDP-1 to GDP-6 on `horizon` slots, by default a quick feasible makespan."""
    H = default_horizon(instance) if horizon is None else horizon
    refuse_many_slots(instance, H, MOST_TERMS)
    O, rates = instance.server_gpus, instance.rates  # noqa: E741
    G, F, P = rates.gpus, rates.iterations, max(1, rates.max_level)
    jobs = range(len(G))

    m = pyo.ConcreteModel("disjunctive")
    m.J = pyo.RangeSet(0, len(G) - 1)
    m.S = pyo.RangeSet(0, len(O) - 1)
    m.T = pyo.RangeSet(0, H - 1)
    m.J2 = pyo.Set(initialize=[j for j in jobs if rates.server_counts(j)[-1] >= 2])
    m.y = pyo.Var(
        m.J, m.S, domain=pyo.NonNegativeIntegers, bounds=lambda m, j, s: (0, min(O[s], G[j]))
    )
    m.u = pyo.Var(m.J, m.S, domain=pyo.Binary, doc="job j uses server s")
    m.n = pyo.Var(m.J2, m.S, domain=pyo.Binary, doc="job j is on the network at server s")
    m.x = pyo.Var(m.J, m.T, domain=pyo.Binary, doc="active in slot t")
    m.z = pyo.Var(m.J, m.T, domain=pyo.Binary, doc="starts in slot t")
    m.w = pyo.Var(m.J, pyo.RangeSet(1, H), domain=pyo.Binary, doc="has stopped at instant t")
    m.g = pyo.Var(
        m.J,
        m.S,
        m.T,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, j, s, t: (0, min(O[s], G[j])),
        doc="GPUs held in slot t",
    )
    m.q = pyo.Var(m.J2, m.S, m.T, domain=pyo.Binary, doc="on the network in slot t")
    m.phi = pyo.Var(
        m.J,
        m.T,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, j, t: (0, fastest_rate(instance, j)),
        doc="iterations done in slot t",
    )
    m.mk = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, H), doc="makespan")

    @m.Disjunction(m.J, m.S, doc="GDP-1: none, part or all of the gang")
    def share_of_gang(m: Any, j: int, s: int) -> Any:
        network = [m.n[j, s]] if j in m.J2 else []
        cases = [[m.y[j, s] == 0, m.u[j, s] == 0, *(n == 0 for n in network)]]
        if j in m.J2:
            part = [m.y[j, s] >= 1, m.y[j, s] <= min(O[s], G[j] - 1)]
            cases.append([*part, m.u[j, s] == 1, m.n[j, s] == 1])
        if O[s] >= G[j]:
            cases.append([m.y[j, s] == G[j], m.u[j, s] == 1, *(n == 0 for n in network)])
        return cases

    @m.Disjunction(m.J, m.T, doc="GDP-2: idle, or running on r servers at level p")
    def activity_in_slot(m: Any, j: int, t: int) -> Any:
        idle = [m.x[j, t] == 0, m.phi[j, t] == 0]
        idle += [m.g[j, s, t] == 0 for s in m.S]
        idle += [m.q[j, s, t] == 0 for s in m.S if j in m.J2]

        def run(r: int, p: int) -> Any:
            case = [m.x[j, t] == 1, sum(m.u[j, s] for s in m.S) == r]
            case += [m.phi[j, t] == rates.rate(j, r, p), m.mk >= t + 1]
            case += [m.g[j, s, t] == m.y[j, s] for s in m.S]
            if j in m.J2:
                case += [m.q[j, s, t] == m.n[j, s] for s in m.S]
                case += [sum(m.q[i, s, t] for i in m.J2) <= p + P * (1 - m.q[j, s, t]) for s in m.S]
            return case

        modes = [(r, p) for r in rates.server_counts(j) for p in distinct_levels(instance, j, r)]
        return [idle, *(run(r, p) for r, p in modes)]

    @m.Constraint(m.J, doc="GDP-3: the gang is complete")
    def gang(m: Any, j: int) -> Any:
        return sum(m.y[j, s] for s in m.S) == G[j]

    @m.Constraint(m.S, m.T, doc="GDP-4: capacity")
    def capacity(m: Any, s: int, t: int) -> Any:
        return sum(m.g[j, s, t] for j in m.J) <= O[s]

    @m.Constraint(m.J, doc="GDP-5: the work is done")
    def work(m: Any, j: int) -> Any:
        return sum(m.phi[j, t] for t in m.T) >= F[j]

    @m.Constraint(m.J, m.T, doc="GDP-6: activity changes by starting and stopping")
    def contiguous(m: Any, j: int, t: int) -> Any:
        before = m.x[j, t - 1] - m.w[j, t] if t else 0
        return m.x[j, t] == before + m.z[j, t]

    @m.Constraint(m.J, doc="GDP-6: one start")
    def one_start(m: Any, j: int) -> Any:
        return sum(m.z[j, t] for t in m.T) == 1

    @m.Constraint(m.J, doc="GDP-6: one stop")
    def one_stop(m: Any, j: int) -> Any:
        return sum(m.w[j, t + 1] for t in m.T) == 1

    m.makespan = pyo.Objective(expr=m.mk, sense=pyo.minimize)
    return m


@formulation(name="gdp_bigm", model_class="GDP", equations="GDP-1 to GDP-6 (reconstructed)")
def build_bigm(instance: SjfBcoInstance, horizon: int | None = None) -> pyo.ConcreteModel:
    """Disjunctive model, big-M reformulation.

    Build the big-M reformulation of GDP-1 to GDP-6 (reconstructed).
    """
    m = build_disjunctive(instance, horizon)
    pyo.TransformationFactory("gdp.bigm").apply_to(m)
    return m


@formulation(name="gdp_hull", model_class="GDP", equations="GDP-1 to GDP-6 (reconstructed)")
def build_hull(instance: SjfBcoInstance, horizon: int | None = None) -> pyo.ConcreteModel:
    """Disjunctive model, hull reformulation.

    Build the hull reformulation of GDP-1 to GDP-6 (reconstructed).
    """
    m = build_disjunctive(instance, horizon)
    pyo.TransformationFactory("gdp.hull").apply_to(m)
    return m
