r"""Event-based ILP: periods between events replace the slots.

The model is (reconstructed). Levels change only at starts and completions. So E = 2 |J| - 1 periods
e of integer length D_e >= 0 replace the slots. A job is active in a contiguous set of periods, and
a job that runs delta slots of a period at one level does phi delta iterations. Sets, parameters and
the placement (TI-1 to TI-4) are those of `time_indexed.py`, with e for t: z_je starts, w_je has
stopped, x_je active, g_jse GPUs held, q_jse on the network, c_jerp runs on r servers at level p,
and delta_jerp the slots it does so.

.. math::
    \min\ & \sum_e D_e \\
    \text{EV-5}\quad & x_{je} = x_{j,e-1} + z_{je} - w_{je}, \quad
                       \sum_e z_{je} = \sum_e w_{je} = 1 \\
    \text{EV-6}\quad & g_{jse} \le \min(O_s, G_j) x_{je}, \quad g_{jse} \le y_{js}, \quad
                       g_{jse} \ge y_{js} - \min(O_s, G_j)(1 - x_{je}) \\
    \text{EV-7}\quad & \sum_j g_{jse} \le O_s, \qquad \sum_s g_{jse} = G_j x_{je} \\
    \text{EV-8}\quad & q_{jse} \ge n_{js} + x_{je} - 1 \\
    \text{EV-9}\quad & \sum_i q_{ise} \le \sum_{r,p} p\, c_{jerp} + P_s (1 - q_{jse}) \\
    \text{EV-10}\quad & \sum_{r,p} c_{jerp} = x_{je}, \qquad \sum_p c_{jerp} \le R_{jr} \\
    \text{EV-11}\quad & \sum_{e,r,p} \phi_j(r, p)\, \delta_{jerp} \ge F_j, \quad
        0 \le \delta_{jerp} \le H c_{jerp}, \quad \sum_{r,p} \delta_{jerp} \le D_e

The size is independent of the number of slots, but the LP bound is weak: the model solves instances
of two or three jobs.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..energetic import energetic_bound
from ..instance import SjfBcoInstance, SjfBcoSolution
from ..subproblems.greedy import default_horizon
from ..subproblems.symmetry import identical_jobs, neighbours
from .time_indexed import (
    add_placement,
    decode_placement,
    distinct_levels,
    most_spread,
)


@formulation(
    model_class="ILP",
    equations="TI-1 to TI-4, EV-5 to EV-11 (reconstructed)",
    backends=("highs", "cpsat"),
)
def build(instance: SjfBcoInstance, horizon: int | None = None) -> pyo.ConcreteModel:
    """Periods between events instead of slots.

    Build TI-1 to TI-4 and EV-5 to EV-11 (reconstructed); `horizon` bounds the makespan.
    """
    H = default_horizon(instance) if horizon is None else horizon
    O, N, rates = instance.server_gpus, instance.total_gpus, instance.rates  # noqa: E741
    G, F = rates.gpus, rates.iterations
    periods = 2 * len(G) - 1
    lower = energetic_bound(instance)

    m = pyo.ConcreteModel("event based")
    add_placement(m, instance)
    m.E = pyo.RangeSet(0, periods - 1)
    m.D = pyo.Var(m.E, domain=pyo.NonNegativeIntegers, bounds=(0, H), doc="slots of period e")
    m.x = pyo.Var(m.J, m.E, domain=pyo.Binary, doc="active in period e")
    m.z = pyo.Var(m.J, m.E, domain=pyo.Binary, doc="starts with period e")
    m.w = pyo.Var(m.J, pyo.RangeSet(1, periods), domain=pyo.Binary, doc="stopped before e")
    m.g = pyo.Var(
        m.J,
        m.S,
        m.E,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, j, s, e: (0, min(O[s], G[j])),
        doc="GPUs held in period e",
    )
    m.q = pyo.Var(m.J2, m.S, m.E, domain=pyo.Binary, doc="on the network in period e")
    m.c = pyo.Var(m.E, m.JRP, domain=pyo.Binary, doc="runs on r servers at level p")
    m.delta = pyo.Var(m.E, m.JRP, domain=pyo.NonNegativeIntegers, bounds=(0, H), doc="slots run so")

    # Indices (j, r, p) by job, and by job and number of servers.
    modes = {j: [(r, p) for i, r, p in m.JRP if i == j] for j in m.J}
    levels = {(j, r): distinct_levels(instance, j, r) for j, r in m.JR}

    @m.Constraint(m.J, m.E, doc="EV-5: activity changes by starting and stopping")
    def activity(m: Any, j: int, e: int) -> Any:
        before = m.x[j, e - 1] - m.w[j, e] if e else 0
        return m.x[j, e] == before + m.z[j, e]

    @m.Constraint(m.J, doc="EV-5: one start")
    def one_start(m: Any, j: int) -> Any:
        return sum(m.z[j, e] for e in m.E) == 1

    @m.Constraint(m.J, doc="EV-5: one stop")
    def one_stop(m: Any, j: int) -> Any:
        return sum(m.w[j, e + 1] for e in m.E) == 1

    @m.Constraint(m.J, m.S, m.E, doc="EV-6: GPUs are held only while active")
    def held_if_active(m: Any, j: int, s: int, e: int) -> Any:
        return m.g[j, s, e] <= min(O[s], G[j]) * m.x[j, e]

    @m.Constraint(m.J, m.S, m.E, doc="EV-6: no more than placed")
    def held_if_placed(m: Any, j: int, s: int, e: int) -> Any:
        return m.g[j, s, e] <= m.y[j, s]

    @m.Constraint(m.J, m.S, m.E, doc="EV-6: all that is placed while active")
    def placed_is_held(m: Any, j: int, s: int, e: int) -> Any:
        return m.g[j, s, e] >= m.y[j, s] - min(O[s], G[j]) * (1 - m.x[j, e])

    @m.Constraint(m.S, m.E, doc="EV-7: capacity")
    def capacity(m: Any, s: int, e: int) -> Any:
        return sum(m.g[j, s, e] for j in m.J) <= O[s]

    @m.Constraint(m.J, m.E, doc="EV-7: an active job holds its whole gang (a cut)")
    def gang_held(m: Any, j: int, e: int) -> Any:
        return sum(m.g[j, s, e] for s in m.S) == G[j] * m.x[j, e]

    @m.Constraint(m.J2, m.S, m.E, doc="EV-8: spread and active is on the network")
    def on_network(m: Any, j: int, s: int, e: int) -> Any:
        return m.q[j, s, e] >= m.n[j, s] + m.x[j, e] - 1

    @m.Constraint(m.J2, m.S, m.E, doc="EV-9: the level covers every shared server")
    def level_covers(m: Any, j: int, s: int, e: int) -> Any:
        level = sum(p * m.c[e, j, r, p] for r, p in modes[j])
        sharing = sum(m.q[i, s, e] for i in m.J2)
        return sharing <= level + most_spread(instance, s) * (1 - m.q[j, s, e])

    @m.Constraint(m.J, m.E, doc="EV-10: one level while active")
    def one_level(m: Any, j: int, e: int) -> Any:
        return sum(m.c[e, j, r, p] for r, p in modes[j]) == m.x[j, e]

    @m.Constraint(m.E, m.JR, doc="EV-10: of the number of servers used")
    def level_of_count(m: Any, e: int, j: int, r: int) -> Any:
        return sum(m.c[e, j, r, p] for p in levels[j, r]) <= m.R[j, r]

    @m.Constraint(m.J, doc="EV-11: the work is done")
    def work(m: Any, j: int) -> Any:
        done = sum(rates.rate(j, r, p) * m.delta[e, j, r, p] for e in m.E for r, p in modes[j])
        return done >= F[j]

    @m.Constraint(m.E, m.JRP, doc="EV-11: slots only at the level the period has")
    def slots_at_level(m: Any, e: int, j: int, r: int, p: int) -> Any:
        return m.delta[e, j, r, p] <= H * m.c[e, j, r, p]

    @m.Constraint(m.J, m.E, doc="EV-11: no more slots than the period")
    def slots_of_period(m: Any, j: int, e: int) -> Any:
        return sum(m.delta[e, j, r, p] for r, p in modes[j]) <= m.D[e]

    # Strengthenings.

    @m.Constraint(m.E, doc="the gangs running in a period fit the cluster")
    def area(m: Any, e: int) -> Any:
        held = sum(G[j] * m.delta[e, j, r, p] for j, r, p in m.JRP)
        return held <= N * m.D[e]

    @m.Constraint(m.J, doc="no job runs shorter than its shortest duration")
    def shortest_run(m: Any, j: int) -> Any:
        run = sum(m.delta[e, j, r, p] for e in m.E for r, p in modes[j])
        return run >= int(rates.exec_min[j])

    @m.Constraint(doc="the energetic bound")
    def windows(m: Any) -> Any:
        return sum(m.D[e] for e in m.E) >= lower

    @m.Constraint(doc="the horizon")
    def within_horizon(m: Any) -> Any:
        return sum(m.D[e] for e in m.E) <= H

    m.job_pairs = pyo.Set(dimen=2, initialize=neighbours(identical_jobs(instance)))

    @m.Constraint(m.job_pairs, doc="symmetry: identical jobs in order of start")
    def jobs_in_order(m: Any, i: int, j: int) -> Any:
        return sum(e * m.z[i, e] for e in m.E) <= sum(e * m.z[j, e] for e in m.E)

    m.makespan = pyo.Objective(expr=sum(m.D[e] for e in m.E), sense=pyo.minimize)
    return m


def decode(m: pyo.ConcreteModel, instance: SjfBcoInstance) -> SjfBcoSolution:
    """Return placements, and starts as the total length of the periods before them."""
    length = [round(pyo.value(m.D[e])) for e in m.E]
    first = [next(e for e in m.E if pyo.value(m.z[j, e]) > 0.5) for j in m.J]
    return SjfBcoSolution(
        start_slot=tuple(sum(length[:e]) for e in first), placement=decode_placement(m)
    )
