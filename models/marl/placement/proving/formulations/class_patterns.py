r"""F2c: an integer variable for every content of classes, where every job has one task.

Jobs of the same type, demand and :math:`W t^0` are a class c of :math:`N_c` jobs. A job of one task
has one server, so the cost of a content is certain and no maximum is needed:

.. math::
    \min\ & \tfrac{1}{|J|} \sum_P \mathrm{cost}(P)\, z_P, \qquad
    \mathrm{cost}(P) = \sum_{i \in P} W_i t^0_i \Bigl(1 + \sum_{i' \ne i} \alpha_{i i'}\Bigr) \\
    & \sum_P P_c z_P = N_c                            \quad \forall c          \tag{1} \\
    & \sum_P z_P \le |S|                                                       \tag{2}

With servers of several sizes there is a :math:`z_P` and a row (2) for each size that holds P. Racks
play no part.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ....subproblems.contents import Slowdowns, enumerate_contents
from ...formulations.assignment import check_plain
from ...instance import PlacementInstance, PlacementSolution
from ..layout import placed
from ..terms import Terms

#: Contents of a model that is still built. Tuned: `benchmarks/constants.py`.
MOST_CONTENTS = 100_000


@formulation(
    model_class="ILP", equations="F2c (1)-(2) (reconstructed)", backends=("highs", "cpsat")
)
def build(instance: PlacementInstance) -> pyo.ConcreteModel:
    """Contents of classes of single-task jobs that are alike.

    Raises
    ------
    ModelRefused
        If there are boards, a job has several tasks, or there are too many contents.
    """
    check_plain(instance)
    for j, job in enumerate(instance.jobs):
        if job.num_tasks > 1:
            raise ModelRefused(f"jobs[{j}].num_tasks: {job.num_tasks}, but F2c is for single tasks")
    terms = Terms(instance)
    lots = terms.lots
    slowdowns = Slowdowns(instance, lots)
    columns = [
        (k, content)
        for k, kind in enumerate(terms.kinds)
        for content in enumerate_contents(lots, kind.gpus, kind.cpus, MOST_CONTENTS)
    ]
    holding: list[list[tuple[int, int]]] = [[] for _ in lots]
    for column, (_, content) in enumerate(columns):
        for i, n in content:
            holding[i].append((column, n))

    m = pyo.ConcreteModel("F2c")
    m.C = pyo.RangeSet(0, len(lots) - 1)
    m.P = pyo.RangeSet(0, len(columns) - 1)
    m.K = pyo.RangeSet(0, len(terms.kinds) - 1)
    m.contents = columns
    m.z = pyo.Var(
        m.P,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, p: (0, terms.kinds[columns[p][0]].servers),
        doc="servers with content P",
    )

    @m.Constraint(m.C, doc="(1): all jobs of the class")
    def jobs(m: Any, i: int) -> Any:
        placed_jobs = [n * m.z[p] for p, n in holding[i]]
        return sum(placed_jobs) == lots[i].tasks if placed_jobs else pyo.Constraint.Infeasible

    @m.Constraint(m.K, doc="(2): servers")
    def servers(m: Any, k: int) -> Any:
        used = [m.z[p] for p in m.P if columns[p][0] == k]
        return sum(used) <= terms.kinds[k].servers if used else pyo.Constraint.Skip

    number = max(1, len(instance.jobs))

    def mean_cost(p: int) -> int | Fraction:
        content, cost = columns[p][1], Fraction(0)
        for (i, n), slowdown in zip(content, slowdowns.of(content), strict=True):
            cost += n * lots[i].job_s * (1 + slowdown)
        return coefficient(cost / number)

    m.mean_completion_s = pyo.Objective(expr=sum(mean_cost(p) * m.z[p] for p in m.P))
    return m


def decode(m: pyo.ConcreteModel, instance: PlacementInstance) -> PlacementSolution:
    """Give every server a content."""
    servers = [
        (m.contents[p][0], None, m.contents[p][1])
        for p in m.P
        for _ in range(round(pyo.value(m.z[p])))
    ]
    return placed(Terms(instance), servers)
