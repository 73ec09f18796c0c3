r"""A binary variable (column) for every pair of workers and servers of every job.

F2 of the page; F4 if use is charged (reconstructed).

Sets: jobs i, pairs :math:`\mathcal F_i = \{(w, p) \in \mathbb Z_{\ge 1}^2 : O_i w + G_i p \le
v_i\}`, resources r. Parameters: :math:`\pi_{iwp} = \mu_i(\tau_i(w, p))`, and what a column is
charged, :math:`a^r_{iwp} = v^r_i` (charging "reserved") or :math:`O^r_i w + G^r_i p` (charging
"used"). Variables: :math:`y_{iwp} = 1` if job i runs with w workers and p servers.

.. math::
    \max\ & \sum_{i,w,p} \pi_{iwp}\, y_{iwp}                                    \tag{1} \\
    & \sum_{i,w,p} a^r_{iwp}\, y_{iwp} \le C^r \quad \forall r                  \tag{2} \\
    & \sum_{w,p} y_{iwp} \le 1 \quad \forall i, \qquad y_{iwp} \in \{0, 1\}

The pairs satisfy constraint (3). With charging "reserved" all columns of a job weigh the same, so
that only its best one matters: see `collapsed.py`. Columns without utility are left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.exact import ROUNDING
from gadgetopt.pieces.knapsack.moderate import moderate
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.system.declaring import formulation

from ..instance import Allocation, SmdInstance, SmdSolution
from ..subproblems.columns import all_columns


def with_moderate_rows(knapsack: Knapsack) -> Knapsack:
    """Scale rows to a size at which solver tolerances do no harm; profits stay the same."""
    return replace(moderate(knapsack).knapsack, profit=knapsack.profit)


@formulation(model_class="ILP", equations="F2, F4 (reconstructed)", objective_error=ROUNDING)
def build(instance: SmdInstance) -> pyo.ConcreteModel:
    """A binary variable for every pair of workers and servers of every job.

    Build (1), (2) over all columns; charged as the instance says.
    """
    columns = all_columns(instance)
    knapsack = with_moderate_rows(columns.knapsack)
    resources = instance.resources
    keys = list(zip(columns.job.tolist(), columns.w.tolist(), columns.p.tolist(), strict=True))
    of_job: dict[int, list[tuple[int, int, int]]] = {}
    for key in keys:
        of_job.setdefault(key[0], []).append(key)
    profit = dict(zip(keys, knapsack.profit.tolist(), strict=True))
    charge = dict(zip(keys, knapsack.weight.tolist(), strict=True))

    m = pyo.ConcreteModel("columns")
    m.I = pyo.Set(initialize=list(of_job), doc="jobs of some use")
    m.R = pyo.RangeSet(0, len(resources) - 1)
    m.F = pyo.Set(dimen=3, initialize=keys, doc="pairs inside the reservation, (3)")
    m.y = pyo.Var(m.F, domain=pyo.Binary, doc="job i runs with w workers and p servers")

    @m.Constraint(m.R, doc="(2): what is charged fits the cluster")
    def capacity(m: Any, r: int) -> Any:
        terms = [charge[key][r] * m.y[key] for key in keys if charge[key][r]]
        return sum(terms) <= knapsack.capacity[r] if terms else pyo.Constraint.Skip

    @m.Constraint(m.I, doc="a job runs in one way, if at all")
    def one_pair(m: Any, i: int) -> Any:
        return sum(m.y[key] for key in of_job[i]) <= 1

    m.utility = pyo.Objective(
        expr=sum(profit[key] * m.y[key] for key in keys), sense=pyo.maximize, doc="(1)"
    )
    return m


def decode(m: pyo.ConcreteModel, instance: SmdInstance) -> SmdSolution:
    """Admit the jobs of the columns chosen."""
    given = [Allocation(admit=False)] * len(instance.jobs)
    for i, w, p in m.F:
        if pyo.value(m.y[i, w, p]) > 0.5:
            given[i] = Allocation(admit=True, num_workers=w, num_ps=p)
    return SmdSolution(jobs=tuple(given))
