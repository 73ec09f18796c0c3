"""Orders by rules."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.pieces.pipeline.orders import (
    all_forward_first,
    one_forward_one_backward,
    orders_of_starts,
    round_orders,
)
from gadgetopt.pieces.pipeline.shop import shop_of_times
from gadgetopt.pieces.pipeline.simulator import simulate

from .examples import shops


def rounds_from_the_text(stages: int, count: int) -> list[list[int]]:
    """Rounds t = 1.., blocks from the last to the first, microbatch t - j + 1 of block j."""
    blocks = 4 * stages - 3
    orders: list[list[int]] = [[] for _ in range(2 * stages - 1)]
    for t in range(1, count + blocks):
        for j in range(blocks, 0, -1):
            m = t - j + 1
            if 1 <= m <= count:
                if j == 2 * stages - 1:
                    orders[-1] += [m, -m]
                elif j < 2 * stages - 1:
                    orders[j - 1].append(m)
                else:
                    orders[4 * stages - 3 - j].append(-m)
    return orders


@given(st.integers(1, 5), st.integers(1, 25))
def test_rounds_are_those_of_the_definition(stages, count):
    zeros = [0] * (2 * stages - 1)
    shop = shop_of_times(zeros, zeros, zeros, count)
    assert round_orders(shop) == rounds_from_the_text(stages, count)


@given(shops(4, 6))
def test_rounds_end_within_their_number_of_periods(shop):
    """Every round lasts at most C: T <= max_n ((M + 4S - 4 - 2n) C + A_n)."""
    if shop.memory_limited:
        return
    stages, count = shop.num_stages, shop.num_microbatches
    bound = max(
        (count + 4 * stages - 4 - 2 * n) * shop.period + shop.allreduce[2 * n]
        for n in range(stages)
    )
    assert simulate(shop, round_orders(shop)).makespan <= bound


def test_warm_ups():
    assert one_forward_one_backward(4, 2) == [1, 2, -1, 3, -2, 4, -3, -4]
    assert one_forward_one_backward(3, 9) == all_forward_first(3) == [1, 2, 3, -1, -2, -3]
    assert one_forward_one_backward(2, 0) == [1, -1, 2, -2]


def test_blocks_without_length_come_first_among_those_that_start_together():
    # Stage 0 takes 2 forward and nothing back, the channel nothing, stage 1 only 3 back.
    shop = shop_of_times([2, 0, 0], [0, 0, 3], [0, 0, 0], 2)
    forward, backward = [[0, 5], [2, 7], [2, 7]], [[5, 10], [5, 10], [2, 7]]
    orders = orders_of_starts(shop, (forward, backward), 1e-6)
    assert orders == [[1, -1, 2, -2]] * 3
    early = [[x - 1e-9 for x in row] for row in forward]
    assert orders_of_starts(shop, (early, backward), 1e-6) == orders
    assert simulate(shop, orders).makespan_s == 10


def test_blocks_that_all_take_no_time_have_an_order_without_deadlock():
    shop = shop_of_times([0] * 5, [0] * 5, [0, 0, 0, 0, 1], 3)
    nothing = [[0.0] * 3 for _ in range(5)]
    assert simulate(shop, orders_of_starts(shop, (nothing, nothing), 1e-6)).makespan_s == 1
