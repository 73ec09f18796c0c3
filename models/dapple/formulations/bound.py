r"""D-LB: the plan of the least head, load and tail.

Stages and links in a row are q = 0..2S-2, stage n is q = 2n; :math:`f_q, b_q` their times,
:math:`a_q` the AllReduce of a stage and 0 of a link.

.. math::
    \min\ & \Theta \\
    & \Theta \ge \sum_{i<q} f_i + M (f_q + b_q) + \sum_{i=s}^{q-1} b_i + a_s
      \quad \forall q,\ \text{even } s \le q                                       \tag{9}

and (0)-(8), (10) of `counts`. Row (q, s) is :math:`L_q`, the latency around the pivot q as far as
it is a bound. With full duplex a link is two machines, of M forward or of M backward blocks, beside
one passage of what is beyond:

.. math::
    & \Theta \ge \sum_{i<q} f_i + M f_q + \sum_{i>q} (f_i + b_i) + b_q
      + \sum_{i=s}^{q-1} b_i + a_s                                                \tag{9f} \\
    & \Theta \ge \sum_{i \le q} f_i + \sum_{i>q} (f_i + b_i) + M b_q
      + \sum_{i=s}^{q-1} b_i + a_s                                                \tag{9b}

Empty stages at the end take no time, and their rows say less than those of the last real stage. The
optimum is a lower bound on the iteration time of every plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyomo.core as pyo

from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.system.declaring import formulation

from ..algorithms.schedules import scheduled
from ..instance import DappleInstance, DappleSolution
from .counts import add_plan, decoded_plan


@formulation(model_class="MILP", strength="relaxation", equations="(0)-(10)", decode="decode")
def build(instance: DappleInstance, stages: int | None = None) -> pyo.ConcreteModel:
    """D-LB: the least head, load and tail of a plan, GPUs counted by machine.

    Build D-LB, for at most so many stages if a number is given.

    Raises
    ------
    ModelRefused
        If it would be too large, or an option of the instance is not in it.
    """
    m = pyo.ConcreteModel("bound")
    data = add_plan(m, instance, stages)
    m.Theta = pyo.Var(domain=pyo.NonNegativeReals, doc="the bound, units")
    add_bound_rows(m, data.M, full_duplex=instance.duplex == "full")
    m.objective = pyo.Objective(expr=data.unit_s * m.Theta, doc="the largest head, load, tail")
    return m


def decode(m: pyo.ConcreteModel, instance: DappleInstance) -> DappleSolution:
    """Return the plan with the better of the two warm-up policies."""
    plan = decoded_plan(m, instance)
    return scheduled(shop_of(instance, plan), "best").solution(plan)


def forward_time(m: pyo.ConcreteModel, q: int) -> Any:
    """Return f_q."""
    return m.Cf[q // 2] if q % 2 else m.F[q // 2]


def backward_time(m: pyo.ConcreteModel, q: int) -> Any:
    """Return b_q."""
    return m.Cb[q // 2] if q % 2 else m.B[q // 2]


def add_bound_rows(m: pyo.ConcreteModel, M: int, *, full_duplex: bool) -> None:
    """Add (9), with full duplex (9f) and (9b), for the variable `Theta` of a model."""
    count = 2 * m.N.last() + 1
    rows = [
        (q, s, way)
        for q in range(count)
        for s in range(0, q + 1, 2)
        for way in range(2 if full_duplex and q % 2 else 1)
    ]

    @m.Constraint(rows, doc="(9): head, load and tail of a stage or link")
    def head_load_tail(m: Any, q: int, s: int, way: int) -> Any:
        tail = sum(backward_time(m, i) for i in range(s, q)) + m.A[s // 2]
        return m.Theta >= list(_loads(m, q, count, M, full_duplex=full_duplex))[way] + tail


def _loads(m: pyo.ConcreteModel, q: int, count: int, M: int, *, full_duplex: bool) -> Iterator[Any]:
    """Yield head and load of a stage or link, of both directions of a link of full duplex."""
    f, b = forward_time(m, q), backward_time(m, q)
    head = sum(forward_time(m, i) for i in range(q))
    if not (full_duplex and q % 2):
        yield head + M * (f + b)
        return
    beyond = sum(forward_time(m, i) + backward_time(m, i) for i in range(q + 1, count))
    yield head + M * f + beyond + b
    yield head + f + beyond + M * b
