r"""The paper's reformulation (10)-(13): selection of one of all complete schedules.

Y = {y^1, ..., y^K} holds every feasible schedule, placements and starts; a_j(y^k) and rho_j(y^k)
are the start and execution time of job j in it, known by simulation. x_j^k = 1 if job j follows
y^k.

.. math::
    \min\ & \max_j \sum_k x_j^k (a_j(y^k) + \rho_j(y^k))                        \tag{10} \\
    & \sum_k x_j^k = 1                       \quad \forall j                    \tag{11} \\
    & x_j^k = x_{j'}^k                       \quad \forall j, j', k             \tag{12} \\
    & x_j^k \in \{0, 1\}                                                        \tag{13}

(the paper omits the sum over k in (10)). By (12) one index is selected for all jobs, so solving it
amounts to scanning Y. With a limit theta on the load of each GPU g it becomes (14)-(16):

.. math::
    \sum_j \sum_k \hat W_{jg}^k \le \theta \quad \forall g, \qquad
    \hat W_{jg}^k = x_j^k \hat\rho_j / u \text{ if job } j \text{ holds } g \text{ in } y^k,
    \text{ else } 0.

The paper asks for a feasible point of (11)-(16); the model keeps (10) as objective to choose one.
For theta = T the limit is redundant, since rho^hat / u never exceeds an execution time. y^k does
not include which GPUs of a server a job holds: here the first idle ones (reconstructed), so below T
the limited model is a restriction.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.pyomo_numbers import coefficients
from gadgetopt.system.declaring import formulation

from ..instance import SjfBcoInstance, SjfBcoSolution
from ..size_limits import refuse_many_gpus
from ..subproblems.greedy import default_horizon
from .load_limit import load_per_gpu
from .schedules import all_schedules, assign_gpus


@formulation(model_class="ILP", equations="(10)-(13)", backends=("highs", "cpsat"))
def build(instance: SjfBcoInstance, horizon: int | None = None) -> pyo.ConcreteModel:
    """Selection of one of all complete schedules (tiny instances).

    Build (10)-(13) over the schedules that complete within `horizon`.

    Raises
    ------
    ModelRefused
        If there are too many schedules.
    """
    H = default_horizon(instance) if horizon is None else horizon
    Y = all_schedules(instance, H)

    m = pyo.ConcreteModel("schedule selection")
    m.schedules = Y
    m.J = pyo.RangeSet(0, len(instance.jobs) - 1)
    m.K = pyo.RangeSet(0, len(Y) - 1)
    m.x = pyo.Var(m.J, m.K, domain=pyo.Binary, doc="(13): job j follows schedule k")
    m.mk = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, H), doc="makespan")

    @m.Constraint(m.J, doc="(10): no job completes after the makespan")
    def completes(m: Any, j: int) -> Any:
        return m.mk >= sum(Y[k].completion[j] * m.x[j, k] for k in m.K)

    @m.Constraint(m.J, doc="(11): one schedule for every job")
    def one_schedule(m: Any, j: int) -> Any:
        if not Y:
            return m.mk >= H + 1  # no schedule completes within the horizon: infeasible
        return sum(m.x[j, k] for k in m.K) == 1

    @m.Constraint(m.J, m.K, doc="(12): the same for all jobs")
    def same_schedule(m: Any, j: int, k: int) -> Any:
        return m.x[j, k] == m.x[0, k] if j else pyo.Constraint.Skip

    m.makespan = pyo.Objective(expr=m.mk, sense=pyo.minimize)
    return m


@formulation(
    name="load_limited_selection",
    model_class="ILP",
    strength="restriction",
    equations="(14)-(16)",
    backends=("highs", "cpsat"),
)
def build_load_limited(
    instance: SjfBcoInstance, theta: int | None = None, horizon: int | None = None
) -> pyo.ConcreteModel:
    """Schedule selection with a load limit on every GPU, by default the horizon.

    Build (10)-(16) for the load limit `theta`, by default T.
    """
    refuse_many_gpus(instance)
    m = build(instance, horizon)
    limit = instance.horizon_slots if theta is None else theta
    load = coefficients(load_per_gpu(instance))
    holders = [assign_gpus(instance, y) for y in m.schedules]
    m.G = pyo.Set(
        dimen=2,
        initialize=[(s, g) for s, gpus in enumerate(instance.server_gpus) for g in range(gpus)],
    )

    @m.Constraint(m.G, doc="(14)-(16): the load of every GPU stays within the limit")
    def load_limit(m: Any, s: int, g: int) -> Any:
        held = [(j, k) for k in m.K for j in m.J if (s, g) in holders[k][j]]
        if not held:
            return pyo.Constraint.Skip
        return sum(load[j] * m.x[j, k] for j, k in held) <= limit

    return m


def decode(m: pyo.ConcreteModel, instance: SjfBcoInstance) -> SjfBcoSolution:
    """Return the selected schedule."""
    return next(m.schedules[k].decision for k in m.K if pyo.value(m.x[0, k]) > 0.5)
