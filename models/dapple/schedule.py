"""The schedule of a solution: when each block of its stages and links runs."""

from __future__ import annotations

from gadgetopt.pieces.pipeline.dispatch import channels_first_come, dispatch
from gadgetopt.pieces.pipeline.orders import one_forward_one_backward
from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.pieces.pipeline.simulator import Schedule, simulate

from .instance import Copy, DappleSolution


def schedule_of(shop: Shop, solution: DappleSolution | Copy) -> Schedule:
    """Return the schedule of one pipeline, by its orders or its warm-up numbers."""
    if solution.orders is not None:
        return simulate(shop, solution.orders)
    orders = [one_forward_one_backward(shop.num_microbatches, k) for k in solution.warmup or ()]
    return dispatch(shop, channels_first_come(orders))
