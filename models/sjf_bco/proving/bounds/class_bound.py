r"""Class bound: a lower bound from the scarcity of large servers, by gang size.

The relaxation is (reconstructed). Every job is either local, for :math:`d^1_j = d_j(1, 0)` slots,
or spread, for at least :math:`d^2_j = \min_{r \ge 2} d_j(r, 1)`. Variables: x_j = 1 if job j is
local, and the makespan M.

.. math::
    \min\ & M \\
    \text{CB-1}\quad & \sum_j G_j (d^1_j x_j + d^2_j (1 - x_j)) \le M N && \text{area} \\
    \text{CB-2}\quad & d^1_j x_j + d^2_j (1 - x_j) \le M && \forall j: \text{length} \\
    \text{CB-3}\quad & \sum_{j: G_j \ge c} d^1_j x_j \le M \sum_s \lfloor O_s / c \rfloor
        && \forall c: \text{how many gangs of size c fit at once} \\
    \text{CB-4}\quad & \sum_{j: G_j \ge c} G_j d^1_j x_j \le M \sum_{s: O_s \ge c} O_s
        && \forall c: \text{GPUs of the servers large enough} \\
    & x_j \in \{0, 1\},\ M \in \mathbb{Z}_{\ge 0}

for every gang size c. x_j = 0 if no server holds the gang or it makes no progress on one; x_j = 1
if it cannot be spread. Without integrality it is an LP whose dual multipliers prove a bound in
exact arithmetic: `class_lp`.
"""

from __future__ import annotations

import math
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.dual_bounds import rational_duals, rounded_number
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.data import LpDuals
from gadgetopt.system.declaring import formulation, method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import SjfBcoInstance


def durations(instance: SjfBcoInstance, j: int) -> tuple[int | None, int | None]:
    """Return d^1_j and d^2_j; None if job j cannot be local (spread) or would never finish."""
    rates = instance.rates
    counts = rates.server_counts(j)
    local = rates.duration(j, 1, 0) if 1 in counts else None
    spread = [d for r in counts if r >= 2 if (d := rates.duration(j, r, 1)) is not None]
    return local, min(spread, default=None)


@formulation(model_class="ILP", strength="relaxation", equations="class bound (reconstructed)")
def build(instance: SjfBcoInstance, relaxed: bool = False) -> pyo.ConcreteModel:
    """Scarcity of large servers, by size class.

    Build the class bound as an ILP, or as its LP relaxation (reconstructed).
    """
    O, N = instance.server_gpus, instance.total_gpus  # noqa: E741
    G = instance.rates.gpus
    d = [durations(instance, j) for j in range(len(G))]

    m = pyo.ConcreteModel("class bound")
    m.J = pyo.RangeSet(0, len(G) - 1)
    m.sizes = pyo.Set(initialize=sorted({g for g, (local, _) in zip(G, d, strict=True) if local}))
    m.x = pyo.Var(
        m.J,
        domain=pyo.UnitInterval if relaxed else pyo.Binary,
        bounds=lambda m, j: (int(d[j][1] is None), int(d[j][0] is not None)),
        doc="1 if job j is local",
    )
    m.M = pyo.Var(
        domain=pyo.NonNegativeReals if relaxed else pyo.NonNegativeIntegers, doc="makespan"
    )

    def slots(j: int) -> Any:
        """Return the duration of job j, local or spread; bounds exclude impossible choices."""
        local, spread = d[j]
        return (local or 0) * m.x[j] + (spread or 0) * (1 - m.x[j])

    @m.Constraint(doc="CB-1: the area")
    def area(m: Any) -> Any:
        return sum(G[j] * slots(j) for j in m.J) <= N * m.M

    @m.Constraint(m.J, doc="CB-2: the length of every job")
    def length(m: Any, j: int) -> Any:
        return slots(j) <= m.M

    @m.Constraint(m.sizes, doc="CB-3: gangs of size c that fit at once")
    def gangs_at_once(m: Any, c: int) -> Any:
        local = sum(d[j][0] * m.x[j] for j in m.J if G[j] >= c and d[j][0])
        return local <= sum(capacity // c for capacity in O) * m.M

    @m.Constraint(m.sizes, doc="CB-4: GPUs of the servers that hold a gang of size c")
    def large_servers(m: Any, c: int) -> Any:
        local = sum(G[j] * d[j][0] * m.x[j] for j in m.J if G[j] >= c and d[j][0])
        return local <= sum(capacity for capacity in O if capacity >= c) * m.M

    m.makespan = pyo.Objective(expr=m.M, sense=pyo.minimize)
    return m


@method(
    kind="relaxation",
    reference="verified lower bounds (reconstructed)",
    formulation="class_bound",
    backend="highs",
)
def class_lp(instance: SjfBcoInstance, limits: Limits) -> MethodOutcome:
    """Class bound by linear programming, recomputed exactly from its duals.

    Raises
    ------
    ModelRefused
        If doubles do not hold a number of the instance: the duals would prove nothing for it.
    """
    # A check of a proof on `build` needs no solver.
    from gadgetopt.solvers.highs import solve_form

    rng = fixed_rng()
    from .outcome import bound_outcome

    rounded = rounded_number(instance)
    if rounded is not None:
        raise ModelRefused(rounded)
    clock = Clock(limits)
    form = compile_model(build(instance, relaxed=True))
    outcome = solve_form(form, clock.limits(), seed=seed_of(rng))
    proved = None if outcome.row_duals is None else rational_duals(form, outcome.row_duals)
    if proved is None:
        return MethodOutcome(limit_hit=outcome.limit_hit, versions=outcome.versions)
    certified, duals = proved
    certificate = LpDuals(formulation="class_bound", row_duals=tuple(duals))
    result = bound_outcome(instance, math.ceil(certified), certificate)
    result.versions = outcome.versions
    result.notes = {"lp_bound": certified}
    return result
