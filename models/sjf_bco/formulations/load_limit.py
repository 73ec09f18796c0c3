r"""Smallest load limit theta*: (14)-(16) without time, as a compact integer program.

If estimates do not depend on the schedule, (14)-(16) balances the load of gangs over GPUs
(reconstructed). Parameters: l_j = rho^hat_j / u, the load that job j puts on each of its GPUs, with
u so large that l_j never exceeds an execution time. Variables: v_jg = 1 if job j holds GPU g.

.. math::
    \min\ & \theta \\
    & \sum_g v_{jg} = G_j                     \quad \forall j             \tag{LL-1} \\
    & \sum_j l_j v_{jg} \le \theta            \quad \forall g             \tag{LL-2} \\
    & v_{jg} \in \{0, 1\},\ \theta \in \mathbb{Z}_{\ge 0}

In a schedule of makespan M no GPU is busy for more than M slots, so theta* <= OPT: a relaxation,
though rarely stronger than the area bound. theta is an integer, like the limits that the algorithms
try. GPUs are interchangeable here; they are ordered by load to break symmetry.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.numbers.pyomo_numbers import coefficients
from gadgetopt.system.declaring import formulation

from ..instance import SjfBcoInstance
from ..size_limits import refuse_many
from ..subproblems.placement import estimate_range, estimated_slots

#: Limit on the variables, at which Pyomo takes about a gigabyte.
MOST_VARIABLES = MOST_CELLS // 20


def load_per_gpu(instance: SjfBcoInstance) -> list[Fraction]:
    """Return l_j = rho^hat_j / u of each job."""
    u, _ = estimate_range(instance)
    return [estimate / u for estimate in estimated_slots(instance)]


@formulation(
    model_class="ILP", strength="relaxation", equations="(14)-(16), compact (reconstructed)"
)
def build(instance: SjfBcoInstance) -> pyo.ConcreteModel:
    """Least load limit on the GPUs, without time.

    Build LL-1 and LL-2 (reconstructed).
    """
    G = instance.rates.gpus
    refuse_many(
        len(G) * instance.total_gpus,
        MOST_VARIABLES,
        f"{len(G):,} jobs on {instance.total_gpus:,} GPUs: variables",
    )
    load = coefficients(load_per_gpu(instance))

    m = pyo.ConcreteModel("load limit")
    m.J = pyo.RangeSet(0, len(G) - 1)
    m.G = pyo.RangeSet(0, instance.total_gpus - 1)
    m.v = pyo.Var(m.J, m.G, domain=pyo.Binary, doc="job j holds GPU g")
    m.theta = pyo.Var(domain=pyo.NonNegativeIntegers, doc="load limit")

    @m.Constraint(m.J, doc="LL-1: the gang is complete")
    def gang(m: Any, j: int) -> Any:
        return sum(m.v[j, g] for g in m.G) == G[j]

    @m.Constraint(m.G, doc="LL-2: the load of every GPU stays within the limit")
    def within_limit(m: Any, g: int) -> Any:
        return sum(load[j] * m.v[j, g] for j in m.J) <= m.theta

    @m.Constraint(m.G, doc="symmetry: GPUs in order of load")
    def gpus_in_order(m: Any, g: int) -> Any:
        if g == 0:
            return pyo.Constraint.Skip
        return sum(load[j] * (m.v[j, g - 1] - m.v[j, g]) for j in m.J) >= 0

    m.limit = pyo.Objective(expr=m.theta, sense=pyo.minimize)
    return m
