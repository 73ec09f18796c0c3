r"""The scheduling model of a fixed plan: (J1)-(J9) with the times of its shop as constants.

.. math::
    \min\ \Theta \quad \text{subject to (J1)-(J7) and } \Theta \ge LB \text{ of (S6)}
"""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.orders import round_orders
from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.pieces.pipeline.simulator import simulate

from .joint import add_orders, add_routes, add_starts
from .plan_numbers import unit_s


def build(shop: Shop) -> pyo.ConcreteModel:
    """Build the scheduling model of a shop; its objective is in seconds."""
    m = pyo.ConcreteModel("schedule")
    last, M = shop.num_machines - 1, shop.num_microbatches
    bound_s = float(head_load_tail(shop).value_s)
    unit = unit_s(bound_s)
    f, b, a = ((times / unit).tolist() for times in shop.in_seconds())
    H = float(simulate(shop, round_orders(shop)).makespan_s) / unit * (1 + 1e-9)
    m.Theta = pyo.Var(bounds=(bound_s / unit * (1 - 1e-9), H), doc="(J8), (J9): iteration time")
    m.F, m.Cf = f[::2], f[1::2]
    m.B, m.Cb = b[::2], b[1::2]
    add_starts(m, last, M, H)
    add_routes(m)
    add_orders(m, H, full_duplex=shop.full_duplex)

    @m.Constraint(range(0, last + 1, 2), doc="(J7): the last backward block and AllReduce")
    def makespan(m: Any, q: int) -> Any:
        return m.Theta >= m.sb[q, M] + b[q] + a[q]

    m.objective = pyo.Objective(expr=unit * m.Theta, doc="the iteration time")
    return m
