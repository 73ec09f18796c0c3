"""The shortest schedule of one plan: rules, local search, branch and bound, then CP-SAT."""

from __future__ import annotations

import numpy as np

from gadgetopt.pieces.pipeline.cp_schedule import ScheduleOutcome, cp_schedule
from gadgetopt.pieces.pipeline.exact_orders.order_search import shortest_orders
from gadgetopt.pieces.pipeline.improvement import improved_schedule
from gadgetopt.pieces.pipeline.one_machine import one_machine_bound
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
