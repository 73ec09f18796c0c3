"""Rules and forward-backward improvement."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given

from gadgetopt.pieces.pipeline.improvement import (
    improved_schedule,
    short_schedule,
    tail_schedule,
    turned_around,
)
from gadgetopt.pieces.pipeline.one_machine import one_machine_bound
from gadgetopt.pieces.pipeline.orders import round_orders
from gadgetopt.pieces.pipeline.shop import shop_of_times
from gadgetopt.pieces.pipeline.simulator import (
    order_violations,
    simulate,
)
from gadgetopt.search.clock import Clock

from .examples import shops
from .schedule_checks import schedule_violations


@given(shops(4, 5))
def test_improved_schedules_are_feasible_and_no_worse(shop):
    bound = one_machine_bound(shop)
    found = improved_schedule(shop, bound, Clock(), np.random.default_rng(0), rounds=8)
    assert not list(order_violations(shop, found.orders))
    assert not list(schedule_violations(shop, found.fwd_start, found.bwd_start))
    assert bound <= found.makespan <= short_schedule(shop).makespan
    assert simulate(shop, found.orders).makespan <= found.makespan


@given(shops(3, 3, full=False))
def test_the_turned_shop_is_as_long_without_allreduce(shop):
    if any(shop.allreduce):
        return
    assert one_machine_bound(turned_around(shop)) <= short_schedule(shop).makespan
    assert turned_around(turned_around(shop)) == shop


def test_a_long_allreduce_of_the_last_stage_goes_first():
    """Rounds 459.0, GPipe 415.0; by tails the last stage ends early: 345.7, the bound."""
    f, b, a = [3.177, 4, 1.765], [6.354, 4, 3.62], [30.6, 0, 166.2]
    shop = shop_of_times(*([Fraction(str(x)) for x in row] for row in (f, b, a)), 32)
    assert float(simulate(shop, round_orders(shop)).makespan_s) == 459.015
    assert float(tail_schedule(shop).makespan_s) == 345.697
    assert one_machine_bound(shop) == tail_schedule(shop).makespan
