r"""The scheduling model of a fixed plan: (J1)-(J9) with the times of its shop as constants.

.. math::
    \min\ \Theta \quad \text{subject to (J1)-(J7) and } \Theta \ge LB \text{ of (S6)}
"""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from gadgetopt.numbers.units import power_of_two_unit
from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.orders import round_orders
from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.pieces.pipeline.simulator import simulate

from .joint import add_orders, add_routes, add_starts
from .plan_numbers import UNITS


def build(shop: Shop) -> pyo.ConcreteModel:
    """Build the scheduling model of a shop; its objective is in seconds."""
    m = pyo.ConcreteModel("schedule")
    last, M = shop.num_machines - 1, shop.num_microbatches
    bound_s = head_load_tail(shop).value_s
    unit = power_of_two_unit(bound_s, UNITS)
    f, b, a = (
        [x * shop.unit / unit for x in times] for times in (shop.fwd, shop.bwd, shop.allreduce)
    )
    H = simulate(shop, round_orders(shop)).makespan_s / unit
    m.Theta = pyo.Var(bounds=(bound_s / unit, H), doc="(J8), (J9): iteration time")
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
