"""The shortest schedule of one plan: rules, local search, then CP-SAT."""

from __future__ import annotations

import numpy as np

from gadgetopt.pieces.pipeline.cp_schedule import ScheduleOutcome, cp_schedule
from gadgetopt.pieces.pipeline.improvement import improved_schedule
from gadgetopt.pieces.pipeline.one_machine import one_machine_bound
from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

#: Part of the time, and rounds, of local search.
SEARCH_PART, SEARCH_ROUNDS = 0.5, 500


def exact_schedule(shop: Shop, limits: Limits, rng: np.random.Generator) -> ScheduleOutcome:
    """Return the shortest schedule of a shop, or the best found within limits, and a lower bound.

    The bound is at least `one_machine_bound`, which needs no solver; what is above it is CP-SAT's
    word.

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
    return cp_schedule(shop, clock.limits(), int(rng.integers(2**31 - 1)), start=start)
