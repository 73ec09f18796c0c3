r"""The mapping problem (M) of one job: the fastest mapping onto given free GPUs.

Sets: stages s, servers m. Parameters: replicas :math:`k_s` of :math:`t_s` GPUs, free GPUs
:math:`f_m`, and the times of `iteration_time`: :math:`\phi F_s` of a replica without neighbours on
its server, :math:`\phi \underline F_s` of one with all of them, savings :math:`a_{s,u}` per replica
of a neighbouring stage, rings :math:`\varphi_s` whole and split. Variables: replicas
:math:`x_{s,m}`, presence :math:`y_{s,m}`, whole stage :math:`u_{s,m}`, slowest stage
:math:`\theta`, ring :math:`\varphi`.

.. math::
    \text{M0}\quad & \min\ \theta + \varphi \\
    \text{M1}\quad & \sum_m x_{s,m} = k_s \\
    \text{M2}\quad & \sum_s t_s x_{s,m} \le f_m \\
    \text{M3}\quad & y_{s,m} \le x_{s,m} \le \min(k_s, f_m)\, y_{s,m} \\
    \text{M4}\quad & k_s u_{s,m} \le x_{s,m}, \qquad \sum_m u_{s,m} \le 1 \\
    \text{M5}\quad & \theta \ge F_s - \sum_{u = s \pm 1} a_{s,u} x_{u,m}
        - (F_s - \underline\theta)(1 - y_{s,m}) && F_s > \underline\theta \\
    \text{M6}\quad & \theta \ge \underline\theta = \max_s \underline F_s \\
    \text{M7}\quad & \varphi \ge \varphi_s^{split}
        - (\varphi_s^{split} - \varphi_s^{whole}) \sum_m u_{s,m} && k_s \ge 2 \\
    \text{M8}\quad & \sum_s x_{s,m} \ge \sum_s x_{s,m+1} && f_m = f_{m+1}

(:math:`\phi` is left out: it multiplies :math:`\theta` and all that bounds it.) The bilinear
statement has no M5 to M7 but, for present replicas only,

.. math::
    \text{B5}\quad y_{s,m} \Big(F_s - \sum_u a_{s,u} x_{u,m}\Big) \le \theta, \qquad
    \text{B7}\quad \varphi_s^{split} - (\varphi_s^{split} - \varphi_s^{whole}) \sum_m u_{s,m}
        \le \varphi, \qquad
    \text{B4}\quad u_{s,m} (k_s - x_{s,m}) = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyomo.environ as pyo

from gadgetopt.models.a_srpt.iteration_time import MappingTimes
from gadgetopt.models.a_srpt.mapping import Counts


def build(times: MappingTimes, free_gpus: Sequence[int]) -> pyo.ConcreteModel:
    """Build the MILP (M0)-(M8); the objective is in units of 1 / `units_per_s`."""
    m = _placed(times, free_gpus)
    k, f = times.replicas, free_gpus
    together = max(times.stage_together)

    @m.Constraint(m.S, m.M, doc="M4: a whole stage has all its replicas there")
    def whole(m: Any, s: int, server: int) -> Any:
        return k[s] * m.u[s, server] <= m.x[s, server]

    @m.Constraint(m.S, m.M, doc="M5: the slowest stage, where it is present")
    def slowest(m: Any, s: int, server: int) -> Any:
        if times.alone[s] <= together:
            return pyo.Constraint.Skip
        absent = (times.alone[s] - together) * (1 - m.y[s, server])
        return m.theta >= _stage_time(m, times, s, server) - absent

    m.theta.setlb(together)  # M6
    m.symmetry_at = pyo.Set(initialize=[i for i in m.M if i and f[i] == f[i - 1]])

    @m.Constraint(m.symmetry_at, doc="M8: of equal servers, the first holds the most")
    def symmetry(m: Any, server: int) -> Any:
        return sum(m.x[s, server] for s in m.S) <= sum(m.x[s, server - 1] for s in m.S)

    return m


def build_bilinear(times: MappingTimes, free_gpus: Sequence[int]) -> pyo.ConcreteModel:
    """Build the bilinear statement, with (B4), (B5) and (B7)."""
    m = _placed(times, free_gpus)

    @m.Constraint(m.S, m.M, doc="B4: a whole stage has all its replicas there")
    def whole(m: Any, s: int, server: int) -> Any:
        return m.u[s, server] * (times.replicas[s] - m.x[s, server]) == 0

    @m.Constraint(m.S, m.M, doc="B5: the slowest stage, where it is present")
    def slowest(m: Any, s: int, server: int) -> Any:
        return m.y[s, server] * _stage_time(m, times, s, server) <= m.theta

    return m


def decode(model: pyo.ConcreteModel) -> Counts:
    """Return the replicas of every stage on every server."""
    return tuple(tuple(round(model.x[s, server].value) for server in model.M) for s in model.S)


def _placed(times: MappingTimes, free_gpus: Sequence[int]) -> pyo.ConcreteModel:
    """Return a model with variables, objective, (M1) to (M3) and the ring's time."""
    k, f = times.replicas, free_gpus
    m = pyo.ConcreteModel()
    m.S = pyo.RangeSet(0, len(k) - 1)
    m.M = pyo.RangeSet(0, len(f) - 1)
    m.x = pyo.Var(
        m.S,
        m.M,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, s, server: (0, min(k[s], f[server])),
        doc="replicas of stage s on server m",
    )
    m.y = pyo.Var(m.S, m.M, domain=pyo.Binary, doc="stage s is present on server m")
    m.u = pyo.Var(m.S, m.M, domain=pyo.Binary, doc="stage s is whole on server m")
    most_ring = max(times.ring_split)
    m.theta = pyo.Var(domain=pyo.Integers, bounds=(0, max(times.alone)))
    m.ring = pyo.Var(domain=pyo.Integers, bounds=(max(times.ring_whole), most_ring))
    m.iteration = pyo.Objective(expr=m.theta + m.ring)

    @m.Constraint(m.S, doc="M1: every replica is placed")
    def placed(m: Any, s: int) -> Any:
        return sum(m.x[s, server] for server in m.M) == k[s]

    @m.Constraint(m.M, doc="M2: free GPUs")
    def free(m: Any, server: int) -> Any:
        return sum(times.sizes[s] * m.x[s, server] for s in m.S) <= f[server]

    @m.Constraint(m.S, m.M, doc="M3: a present stage has a replica")
    def present(m: Any, s: int, server: int) -> Any:
        return m.y[s, server] <= m.x[s, server]

    @m.Constraint(m.S, m.M, doc="M3: replicas only where it is present")
    def absent(m: Any, s: int, server: int) -> Any:
        return m.x[s, server] <= min(k[s], f[server]) * m.y[s, server]

    @m.Constraint(m.S, doc="M4: on at most one server")
    def one_server(m: Any, s: int) -> Any:
        return sum(m.u[s, server] for server in m.M) <= 1

    @m.Constraint(m.S, doc="M7: the slowest ring")
    def rings(m: Any, s: int) -> Any:
        if k[s] == 1:
            return pyo.Constraint.Skip
        split, whole = times.ring_split[s], times.ring_whole[s]
        return m.ring >= split - (split - whole) * sum(m.u[s, server] for server in m.M)

    return m


def _stage_time(m: pyo.ConcreteModel, times: MappingTimes, s: int, server: int) -> Any:
    left = times.saved_left[s] * m.x[s - 1, server] if s else 0
    right = times.saved_right[s] * m.x[s + 1, server] if s + 1 < len(times.replicas) else 0
    return times.alone[s] - left - right
