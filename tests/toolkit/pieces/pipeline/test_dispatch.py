"""First come, first served: ties, priorities, deadlocks."""

from __future__ import annotations

import pytest
from hypothesis import given

from gadgetopt.pieces.pipeline.dispatch import channels_first_come, dispatch
from gadgetopt.pieces.pipeline.orders import round_orders
from gadgetopt.pieces.pipeline.shop import shop_of_times
from gadgetopt.pieces.pipeline.simulator import DeadlockError, simulate

from .examples import shops


@given(shops(4, 4))
def test_with_all_orders_given_dispatching_is_simulation(shop):
    orders = round_orders(shop)
    schedule = dispatch(shop, orders)
    again = simulate(shop, orders)
    assert (schedule.fwd_start, schedule.bwd_start) == (again.fwd_start, again.bwd_start)


def test_backward_goes_first_on_ties():
    # On the channel forward 3 and backward 1 are both ready at 6.
    shop = shop_of_times([2, 1, 2], [2, 1, 1], [0, 0, 0], 3)
    schedule = dispatch(shop, [[1, 2, 3, -1, -2, -3], None, [1, -1, 2, -2, 3, -3]])
    assert (schedule.fwd_start[0], schedule.bwd_start[2][0]) == ([0, 2, 4], 5)
    assert schedule.orders[1] == [1, 2, -1, 3, -2, -3]


def test_what_is_ready_longest_goes_first():
    shop = shop_of_times([1, 5, 1], [1, 5, 1], [0, 0, 0], 3)
    schedule = dispatch(shop, channels_first_come([[1, 2, 3, -1, -2, -3], [1, -1, 2, -2, 3, -3]]))
    # Forwards 2 and 3 are ready at 2 and 3, backward 1 not before 8.
    assert schedule.orders[1][:4] == [1, 2, 3, -1]


def test_deadlocks_are_reported():
    shop = shop_of_times([1, 1, 1], [1, 1, 1], [0, 0, 0], 2)
    with pytest.raises(DeadlockError, match=r"backward 1 of stage 0, forward 2 of stage 1"):
        dispatch(shop, channels_first_come([[1, -1, 2, -2], [1, 2, -1, -2]]))


def test_full_duplex_channels_carry_both_directions_at_once():
    shop = shop_of_times([1, 4, 1], [1, 4, 1], [0, 0, 0], 2, full_duplex=True)
    schedule = dispatch(shop, [None, None, None])
    assert schedule.fwd_start[1] == [1, 5]
    assert schedule.bwd_start[1] == [7, 11]
