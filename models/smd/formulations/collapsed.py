r"""The multi-dimensional knapsack of jobs, each with its best pair.

F3 of the page, equivalent to the problem as the paper states it.

**Proposition (reconstructed).** Let
:math:`u_i = \max_{(w,p) \in \mathcal F_i} \mu_i(\tau_i(w, p))`, and 0 if no pair fits the
reservation. The optimum of (1)-(3) is that of

.. math::
    \max\ & \sum_i u_i x_i \\
    & \sum_i v^r_i x_i \le C^r \quad \forall r                                  \tag{2} \\
    & x_i \in \{0, 1\}.

*Proof.* Constraint (2) does not contain w and p. For fixed x the objective is a sum over jobs, and
each admitted job chooses its pair by itself; since :math:`\mu_i` falls with time, the best pair is
one of least time. Charging what is used instead of what is reserved couples the two, and the
proposition fails.

The paper says that other jobs can use the released rest of a reservation; its (2) rules that out.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.exact import ROUNDING
from gadgetopt.system.declaring import formulation

from ..instance import Allocation, SmdInstance, SmdSolution
from ..subproblems.columns import collapsed
from ..subproblems.inner import best_pair
from .columns import with_moderate_rows


@formulation(model_class="ILP", equations="F3 (reconstructed)", objective_error=ROUNDING)
def build(instance: SmdInstance) -> pyo.ConcreteModel:
    """The knapsack of jobs, each with its best pair.

    Raises
    ------
    ModelRefused
        If what is used is charged.
    """
    columns = collapsed(instance)
    knapsack = with_moderate_rows(columns.knapsack)
    v = knapsack.weight.tolist()
    u = knapsack.profit.tolist()
    item = {i: c for c, i in enumerate(columns.job.tolist())}

    m = pyo.ConcreteModel("collapsed")
    m.I = pyo.Set(initialize=list(item), doc="jobs of some use")
    m.R = pyo.RangeSet(0, len(instance.resources) - 1)
    m.x = pyo.Var(m.I, domain=pyo.Binary, doc="job i is admitted")

    @m.Constraint(m.R, doc="(2): the reservations of admitted jobs fit the cluster")
    def capacity(m: Any, r: int) -> Any:
        terms = [v[item[i]][r] * m.x[i] for i in m.I if v[item[i]][r]]
        return sum(terms) <= knapsack.capacity[r] if terms else pyo.Constraint.Skip

    m.utility = pyo.Objective(
        expr=sum(u[item[i]] * m.x[i] for i in m.I), sense=pyo.maximize, doc="(1)"
    )
    return m


def decode(m: pyo.ConcreteModel, instance: SmdInstance) -> SmdSolution:
    """Admit the jobs chosen, each with its best pair."""
    given = [Allocation(admit=False)] * len(instance.jobs)
    for i in m.I:
        if pyo.value(m.x[i]) > 0.5:
            pair = best_pair(instance.jobs[i])
            assert pair is not None
            given[i] = Allocation(admit=True, num_workers=pair.w, num_ps=pair.p)
    return SmdSolution(jobs=tuple(given))
