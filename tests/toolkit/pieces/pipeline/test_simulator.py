"""Schedules from orders: start times, deadlocks, what is wrong with them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.pieces.pipeline.dispatch import dispatch
from gadgetopt.pieces.pipeline.improvement import rule_schedules
from gadgetopt.pieces.pipeline.orders import (
    gpipe_orders,
    one_forward_one_backward,
    round_orders,
)
from gadgetopt.pieces.pipeline.shop import shop_of_times
from gadgetopt.pieces.pipeline.simulator import (
    DeadlockError,
    order_violations,
    simulate,
)

from .examples import e3, interleavings, longest_path, shops
from .schedule_checks import schedule_violations


@given(shops(), st.data())
def test_the_simulated_makespan_is_the_longest_path(shop, data):
    orders = [
        data.draw(st.sampled_from(interleavings(shop.num_microbatches)))
        for _ in range(shop.num_machines)
    ]
    if any(order_violations(shop, orders)):
        return
    try:
        expected = longest_path(shop, orders)
    except DeadlockError:
        with pytest.raises(DeadlockError):
            simulate(shop, orders)
        return
    schedule = simulate(shop, orders)
    assert schedule.makespan == expected
    assert not list(schedule_violations(shop, schedule.fwd_start, schedule.bwd_start))


@given(shops(4, 5))
def test_dispatched_schedules_are_what_their_orders_give(shop):
    schedule = dispatch(shop, [None] * shop.num_machines)
    again = simulate(shop, schedule.orders)
    assert (again.fwd_start, again.bwd_start) == (schedule.fwd_start, schedule.bwd_start)


@given(shops(4, 5))
def test_schedules_of_all_rules_are_feasible(shop):
    for schedule in rule_schedules(shop):
        assert not list(schedule_violations(shop, schedule.fwd_start, schedule.bwd_start))
        assert all(
            peak <= cap
            for peak, cap in zip(schedule.peaks_in_flight, shop.max_in_flight, strict=True)
        )


@given(shops(3, 3), st.data())
def test_an_earlier_block_is_a_violation(shop, data):
    """All blocks start as early as the orders allow: none can start earlier by itself."""
    schedule = simulate(shop, round_orders(shop))
    q = data.draw(st.integers(0, shop.num_machines - 1))
    m = data.draw(st.integers(0, shop.num_microbatches - 1))
    fwd = [list(row) for row in schedule.fwd_start]
    fwd[q][m] -= 1
    wrong = list(schedule_violations(shop, fwd, schedule.bwd_start))
    busy = shop.fwd[q] or (q == 0 and m == 0) or fwd[q][m] < 0
    first_ready = q and fwd[q][m] < fwd[q - 1][m] + shop.fwd[q - 1]
    assert wrong or not busy or not first_ready


def test_deadlocks_name_the_blocks_that_wait():
    shop = shop_of_times([1, 1, 1], [1, 1, 1], [0, 0, 0], 2)
    eager, late = one_forward_one_backward(2, 1), [1, 2, -1, -2]
    # Stage 0 wants backward 1 before forward 2; channel and stage 1 want both forwards first.
    with pytest.raises(DeadlockError) as error:
        simulate(shop, [eager, late, late])
    assert error.value.waiting == [(0, -1), (1, 2), (2, 2)]
    assert str(error.value) == (
        "deadlock: these blocks wait for each other: backward 1 of stage 0, "
        "forward 2 of channel 0, forward 2 of stage 1"
    )


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ([1, 1, -1, -2], "an order lists each block once at stage 0: by 2"),
        ([1, 2, -1], "an order lists each block once at stage 0: by 1"),
        ([1, 2, -1, -3], "an order lists each block once at stage 0: by 2"),
    ],
)
def test_incomplete_orders_are_reported(order, words):
    shop = shop_of_times([1], [1], [0], 2)
    assert [str(v) for v in order_violations(shop, [order])] == [words]


def test_too_many_microbatches_in_flight_are_reported():
    shop = shop_of_times([1], [1], [0], 3, max_in_flight=[1])
    assert [str(v) for v in order_violations(shop, gpipe_orders(shop))] == [
        "microbatches in flight at stage 0: by 2"
    ]


def test_e3_by_rounds_and_gpipe():
    """E3: cf1, cf2 keep cb1 waiting on the channel; by rounds 19, GPipe 21, optimum 18."""
    shop = e3()
    assert simulate(shop, round_orders(shop)).makespan == 19
    assert simulate(shop, gpipe_orders(shop)).makespan == 21


def test_overlaps_and_early_blocks_are_violations_with_amounts():
    shop = shop_of_times([2], [3], [0], 2)
    wrong = [str(v) for v in schedule_violations(shop, [[0, 1]], [[4, 7]])]
    both = "forward 1 of stage 0 and forward 2 of stage 0"
    assert wrong == [f"a machine serves one block at a time at {both}: by 1"]
    wrong = [str(v) for v in schedule_violations(shop, [[0, 2]], [[4, 3]])]
    assert "blocks follow their predecessor at backward 2 of stage 0: by 1" in wrong


@settings(max_examples=5)
@given(shops(3, 3))
def test_idle_fractions_are_what_no_block_uses(shop):
    schedule = simulate(shop, round_orders(shop))
    for n, idle in enumerate(schedule.idle_fractions):
        busy = shop.num_microbatches * (shop.fwd[2 * n] + shop.bwd[2 * n])
        assert idle * schedule.makespan == pytest.approx(
            schedule.makespan - busy if schedule.makespan else 0
        )
