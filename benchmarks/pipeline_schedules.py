r"""The shortest schedule of one plan: by all the library has, and as a model for a solver.

`exact_schedule` takes rules, local search, branch and bound, then CP-SAT. `scheduling_model` is
(J1)-(J9) of SPP with the times of a fixed plan as constants:

.. math::
    \min\ \Theta \quad \text{subject to (J1)-(J7) and } \Theta \ge LB \text{ of (S6)}
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from gadgetopt.models.spp.formulations.joint import add_orders, add_routes, add_starts
from gadgetopt.models.spp.formulations.plan_numbers import UNITS
from gadgetopt.numbers.units import power_of_two_unit
from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.cp_schedule import ScheduleOutcome, cp_schedule
from gadgetopt.pieces.pipeline.exact_orders.order_search import shortest_orders
from gadgetopt.pieces.pipeline.improvement import improved_schedule
from gadgetopt.pieces.pipeline.one_machine import one_machine_bound
from gadgetopt.pieces.pipeline.orders import round_orders
from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.pieces.pipeline.simulator import simulate
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

#: Part of the time, and rounds, of local search.
SEARCH_PART, SEARCH_ROUNDS = 0.5, 500
#: Part of the time that is left, and blocks, of branch and bound.
BRANCH_PART, BRANCH_WORK = 0.5, 200_000


def exact_schedule(shop: Shop, limits: Limits, rng: np.random.Generator) -> ScheduleOutcome:
    """Return the shortest schedule of a shop, or the best found within limits, and a lower bound.

    The bound is at least `one_machine_bound`, which needs no solver. What is above it is proved by
    branch and bound (`order_search`) or, if that takes too long, CP-SAT's word.

    Parameters
    ----------
    shop : Shop
    limits : Limits
    rng : numpy.random.Generator
    """
    clock = Clock(limits)
    bound = one_machine_bound(shop)
    start = improved_schedule(
        shop, bound, Clock(clock.limits(SEARCH_PART)), rng, rounds=SEARCH_ROUNDS
    )
    if start.makespan == bound:
        return ScheduleOutcome(start, bound, True, None)
    if clock.expired:
        return ScheduleOutcome(start, bound, False, "time_s")
    found = shortest_orders(shop, start.makespan, BRANCH_WORK, Clock(clock.limits(BRANCH_PART)))
    if found.orders is not None:
        start = simulate(shop, found.orders)
    if found.complete:
        return ScheduleOutcome(start, start.makespan, True, None)
    return cp_schedule(shop, clock.limits(), int(rng.integers(2**31 - 1)), start=start)


def scheduling_model(shop: Shop) -> pyo.ConcreteModel:
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
