"""A plan with the orders of its stages as the outcome of a baseline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.dispatch import channels_first_come, dispatch
from gadgetopt.pieces.pipeline.orders import allowed_warmups, one_forward_one_backward
from gadgetopt.pieces.pipeline.plan import Plan, plan_violations
from gadgetopt.pieces.pipeline.shop import Shop, shop_of
from gadgetopt.pieces.pipeline.simulator import peak_in_flight
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import MethodOutcome

from ..instance import SppInstance, SppSolution


def outcome(
    instance: SppInstance,
    plan: Plan,
    stage_orders: Callable[[Shop], list[list[int]]],
    clock: Clock,
    **notes: Any,
) -> MethodOutcome:
    """Return a plan whose stages have these orders; channels serve what is ready first.

    Raises
    ------
    ModelRefused
        If the plan is not allowed, or the orders keep too many microbatches in flight.
    """
    for violation in plan_violations(instance, plan):
        raise ModelRefused(f"its plan is not allowed: {violation}")
    shop = shop_of(instance, plan)
    orders = stage_orders(shop)
    for n, (order, most) in enumerate(zip(orders, shop.max_in_flight, strict=True)):
        if peak_in_flight(order) > most:
            raise ModelRefused(f"its order keeps more than {most} microbatches on stage {n}")
    schedule = dispatch(shop, channels_first_come(orders))
    return MethodOutcome(
        solution=SppSolution.of(plan, schedule.orders),
        claimed_objective=schedule.makespan_s,
        limit_hit="time_s" if clock.expired else None,
        phases_s=clock.phases_s,
        notes={"stages": plan.num_stages, **notes},
    )


def one_forward_one_backward_orders(shop: Shop) -> list[list[int]]:
    """Return 1F1B on the stages: min(M, S - n) forwards, then one backward and one forward."""
    warmups = [w for n in range(shop.num_stages) for w in (shop.num_stages - n,) * 2][:-1]
    allowed = allowed_warmups(shop, warmups)[::2]
    return [one_forward_one_backward(shop.num_microbatches, warmup) for warmup in allowed]
