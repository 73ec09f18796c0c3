r"""The paper's program as printed: a non-convex MINLP for a global solver.

F1 of the page. TR(n) is equation (n) of the technical report (arXiv 2105.13855).

Sets: jobs i, resources r. Binaries: x_i admits. Integers: w_i workers, p_i servers, at least 1.
With the completion times of TR(14) and TR(17),

.. math::
    \max\ & \sum_i \mu_i\big(\tau_i(w_i, p_i)\big)\, x_i, \qquad
        \mu_i(\tau) = \frac{\gamma_{1i}}{1 + e^{\gamma_{2i} (\tau/unit_i - \gamma_{3i})}} \tag{1} \\
    & \sum_i v^r_i x_i \le C^r \quad \forall r                                  \tag{2} \\
    & (O^r_i w_i + G^r_i p_i)\, x_i \le v^r_i \quad \forall i, r                \tag{3}

With charging "used" the sum in (2) is of :math:`(O^r_i w_i + G^r_i p_i) x_i` (F4 of the page,
reconstructed). Ratios, sigmoids and products of variables are left as printed. Workers and servers
have the bounds that (3) gives an admitted job. A utility below 1e-9 of its gamma_1 counts as 0, as
everywhere: such pairs are left out, and jobs that have no others,

.. math::
    \tau_i(w_i, p_i) \le unit_i \Big(\gamma_{3i} + \frac{1}{\gamma_{2i}}
        \ln 10^9\Big), \tag{4}

which keeps exponentials below what a solver takes for infinity.
"""

from __future__ import annotations

import math
from typing import Any

import pyomo.core as pyo

from gadgetopt.pieces.utility import NEGLIGIBLE
from gadgetopt.system.declaring import formulation

from ..instance import Allocation, SmdInstance, SmdSolution
from ..subproblems.inner import best_pair, largest_p, largest_w


@formulation(name="minlp", model_class="MINLP", equations="F1: TR(1)-TR(3)", backends=("scip",))
def build(instance: SmdInstance) -> pyo.ConcreteModel:
    """The paper's program: ratios, sigmoids and products as printed."""
    jobs, C = instance.jobs, instance.capacity
    most_p = [max(1, largest_p(job)) for job in jobs]
    most_w = [max(1, largest_w(job, 1)) for job in jobs]

    best = [best_pair(job) for job in jobs]
    useful = [
        pair is not None and job.utility.at(pair.tau_s) > 0
        for job, pair in zip(jobs, best, strict=True)
    ]

    m = pyo.ConcreteModel("SMD")
    m.I = pyo.RangeSet(0, len(jobs) - 1)
    m.R = pyo.RangeSet(0, len(C) - 1)
    m.x = pyo.Var(m.I, domain=pyo.Binary, doc="job i is admitted")
    m.w = pyo.Var(m.I, domain=pyo.PositiveIntegers, bounds=lambda m, i: (1, most_w[i]))
    m.p = pyo.Var(m.I, domain=pyo.PositiveIntegers, bounds=lambda m, i: (1, most_p[i]))

    def used(i: int, r: int) -> Any:
        return jobs[i].worker_demand[r] * m.w[i] + jobs[i].ps_demand[r] * m.p[i]

    @m.Constraint(m.R, doc="(2): what admitted jobs are charged fits the cluster")
    def capacity(m: Any, r: int) -> Any:
        if instance.charging == "reserved":
            charged = sum(jobs[i].reservation_limit[r] * m.x[i] for i in m.I)
        else:
            charged = sum(used(i, r) * m.x[i] for i in m.I)
        return pyo.Constraint.Skip if type(charged) in (int, float) else charged <= C[r]

    @m.Constraint(m.I, m.R, doc="(3): an admitted job stays inside its reservation")
    def reservation(m: Any, i: int, r: int) -> Any:
        if not jobs[i].worker_demand[r] and not jobs[i].ps_demand[r]:
            return pyo.Constraint.Skip
        return used(i, r) * m.x[i] <= jobs[i].reservation_limit[r]

    @m.Expression(m.I, doc="TR(14), TR(17): completion time in seconds")
    def tau(m: Any, i: int) -> Any:
        time = jobs[i].completion_time
        w, p = m.w[i], m.p[i]
        terms = [
            (time.per_w, w),
            (time.per_p, p),
            (time.w_over_p, w / p),
            (time.p_over_w, p / w),
            (time.one_over_w, 1 / w),
            (time.one_over_p, 1 / p),
        ]
        return time.constant + sum(theta * term for theta, term in terms if theta)

    @m.Constraint(m.I, doc="(4): pairs of some utility")
    def in_time(m: Any, i: int) -> Any:
        if not useful[i]:
            return pyo.Constraint.Skip
        u = jobs[i].utility
        latest = u.gamma3 + math.log(1 / NEGLIGIBLE) / u.gamma2
        return m.tau[i] <= latest * u.time_unit_s

    @m.Expression(m.I, doc="utility of the completion time")
    def mu(m: Any, i: int) -> Any:
        u = jobs[i].utility
        if not useful[i]:
            return 0.0
        return u.gamma1 / (1 + pyo.exp(u.gamma2 * (m.tau[i] / u.time_unit_s - u.gamma3)))

    m.utility = pyo.Objective(
        expr=sum(m.mu[i] * m.x[i] for i in m.I), sense=pyo.maximize, doc="(1)"
    )
    return m


def decode(m: pyo.ConcreteModel, instance: SmdInstance) -> SmdSolution:
    """Return the values of x, w and p."""
    given = []
    for i in m.I:
        admit = pyo.value(m.x[i]) > 0.5
        counts = {"num_workers": round(pyo.value(m.w[i])), "num_ps": round(pyo.value(m.p[i]))}
        given.append(Allocation(admit=admit, **(counts if admit else {})))
    return SmdSolution(jobs=tuple(given))
