r"""The bound problem P-LB: the least head-load-tail bound of a plan.

Stages and channels in a row are machines q = 0..2S-2, stage n is q = 2n; :math:`f_q, b_q` their
times, :math:`a_q` the AllReduce of a stage and 0 of a channel.

.. math::
    \min\ & \Theta \\
    & \Theta \ge \sum_{i<q} f_i + M (f_q + b_q) + \sum_{i=s}^{q-1} b_i + a_s
      \quad \forall q,\ \text{even } s \le q                                       \tag{S6}

and (P1)-(P13) of `plan_variables`. Machine q cannot start before the head, has the load to do, and
after its last block, a backward one, the tail passes. A channel of full duplex is two machines:

.. math::
    & \Theta \ge \sum_{i<q} f_i + M f_q + \sum_{i>q} (f_i + b_i) + b_q
      + \sum_{i=s}^{q-1} b_i + a_s                                                \tag{S6f} \\
    & \Theta \ge \sum_{i \le q} f_i + \sum_{i>q} (f_i + b_i) + M b_q
      + \sum_{i=s}^{q-1} b_i + a_s                                                \tag{S6b}

The optimum is a lower bound on the iteration time of every plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..instance import SppInstance
from .decoding import decode
from .plan_variables import add_plan


@formulation(model_class="MILP", strength="relaxation", equations="(P1)-(P13), (S6)", decode=decode)
def build(instance: SppInstance) -> pyo.ConcreteModel:
    """P-LB: the least head-load-tail bound of a plan."""
    m = pyo.ConcreteModel("bound")
    data = add_plan(m, instance, disaggregated=False)
    m.Theta = pyo.Var(domain=pyo.NonNegativeReals, doc="the bound")
    add_bound_rows(m, data.M, full_duplex=instance.duplex == "full")
    m.objective = pyo.Objective(expr=data.unit_s * m.Theta, doc="the head-load-tail bound")
    return m


def forward_time(m: pyo.ConcreteModel, q: int) -> Any:
    """Return f_q."""
    return m.Cf[q // 2] if q % 2 else m.F[q // 2]


def backward_time(m: pyo.ConcreteModel, q: int) -> Any:
    """Return b_q."""
    return m.Cb[q // 2] if q % 2 else m.B[q // 2]


def add_bound_rows(m: pyo.ConcreteModel, M: int, *, full_duplex: bool) -> None:
    """Add (S6), with full duplex (S6f) and (S6b), for the variable `Theta` of a model."""
    count = 2 * m.N.last() + 1
    pairs = [(q, s) for q in range(count) for s in range(0, q + 1, 2)]

    @m.Constraint(pairs, [0, 1], doc="(S6): head, load and tail of a machine")
    def head_load_tail(m: Any, q: int, s: int, way: int) -> Any:
        rows = list(_loads(m, q, count, M, full_duplex=full_duplex))
        if way >= len(rows):
            return pyo.Constraint.Skip
        tail = sum(backward_time(m, i) for i in range(s, q)) + m.A[s // 2]
        return m.Theta >= rows[way] + tail


def _loads(m: pyo.ConcreteModel, q: int, count: int, M: int, *, full_duplex: bool) -> Iterator[Any]:
    """Yield head and load of a machine, of both directions of a channel of full duplex."""
    f, b = forward_time(m, q), backward_time(m, q)
    head = sum(forward_time(m, i) for i in range(q))
    if not (full_duplex and q % 2):
        yield head + M * (f + b)
        return
    beyond = sum(forward_time(m, i) + backward_time(m, i) for i in range(q + 1, count))
    yield head + M * f + beyond + b
    yield head + f + beyond + M * b
