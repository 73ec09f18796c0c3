"""Windows and sequences of blocks: bounds, dives and branch and bound against brute force."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.pieces.pipeline.all_plans.proofs.orders import Orders, Times
from gadgetopt.pieces.pipeline.exact_orders import order_search
from gadgetopt.pieces.pipeline.exact_orders.order_search import shortest_orders
from gadgetopt.pieces.pipeline.exact_orders.windows import MOST_EXACT, Sequenced, longest_schedule
from gadgetopt.pieces.pipeline.one_machine import one_machine_bound
from gadgetopt.pieces.pipeline.shop import shop_of_times
from gadgetopt.pieces.pipeline.simulator import order_violations, simulate
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ..examples import least_makespan, shops

ENOUGH = 10**7

#: Backwards that take no time wait for the end of a forward, which preemption would not let them.
BLOCKED = shop_of_times((1, 6, 4, 6, 2), (6, 0, 0, 0, 0), (0, 0, 0, 0, 0), 5)
BLOCKED_LEAST = 55


def many_times(shop, times):
    rows = {name: getattr(shop, name) for name in ("fwd", "bwd", "allreduce")}
    return replace(shop, **{name: tuple(times * x for x in row) for name, row in rows.items()})


@settings(max_examples=100)
@given(shops(3, 2), st.sampled_from([1, 10**25 + 7]))
def test_windows_prove_no_more_than_the_least_makespan(shop, times):
    least = times * least_makespan(shop)
    large = many_times(shop, times)
    low = one_machine_bound(large)
    found = Sequenced(large, least + 5 * times).none_before(0, least + 5 * times)
    assert found <= least
    # Jackson's schedule may be interrupted, sequences not; so but for halvings they prove as much.
    assert Sequenced(large, least).none_before(low, least) >= low


def test_sequences_prove_more_than_preemption():
    preempted = one_machine_bound(BLOCKED)
    found = Sequenced(BLOCKED, BLOCKED_LEAST).none_before(preempted, BLOCKED_LEAST)
    assert preempted < found <= BLOCKED_LEAST
    assert (
        simulate(BLOCKED, shortest_orders(BLOCKED, 10**6, ENOUGH).orders).makespan == BLOCKED_LEAST
    )
    times = Times(BLOCKED.fwd, BLOCKED.bwd, BLOCKED.allreduce, BLOCKED.max_in_flight)
    orders = Orders(times, BLOCKED.num_microbatches, full_duplex=False, compiled=False)
    assert orders.least_s() < found
    assert orders.none_before(found, [()])
    assert not orders.none_before(BLOCKED_LEAST + 1, [()])


@settings(max_examples=60)
@given(shops(3, 2), st.integers(-1, 9), st.sampled_from([1, 10**25 + 7]))
def test_a_dive_finds_orders_that_are_short_enough_or_none(shop, more, times):
    large, least = many_times(shop, times), times * least_makespan(shop)
    below = least + more * times
    run = Sequenced(large, below)
    orders = run.dive(run.none_before(0, below), below)
    if orders is not None:
        assert not list(order_violations(large, orders))
        assert least <= simulate(large, orders).makespan < below


@settings(max_examples=60)
@given(shops(2, 3), st.integers(-2, 3))
def test_rounded_times_lose_no_orders(shop, more):
    """Of times that are too large for 64 bits: orders are timed exactly."""
    large, least = many_times(shop, 10**25 + 7), (10**25 + 7) * least_makespan(shop)
    found = shortest_orders(large, least + more, ENOUGH)
    assert found.complete
    assert (found.orders is not None) == (more > 0)
    if found.orders is not None:
        assert simulate(large, found.orders).makespan == least
    assert not any(large.fwd + large.bwd) or longest_schedule(large) >= MOST_EXACT


@settings(max_examples=60)
@given(shops(2, 3), st.integers(-1, 1))
def test_pairs_alone_find_the_same_makespan(shop, more):
    below = least_makespan(shop) + more
    known = order_search.MOST_SEQUENCED
    order_search.MOST_SEQUENCED = 0
    try:
        by_pairs = shortest_orders(shop, below, ENOUGH)
    finally:
        order_search.MOST_SEQUENCED = known
    found = shortest_orders(shop, below, ENOUGH)
    assert found.complete
    assert by_pairs.complete
    assert (found.orders is None) == (by_pairs.orders is None) == (more < 1)


@settings(max_examples=40, deadline=None)
@given(shop=shops(3, 4))
def test_compiled_and_plain_pairs_are_the_same(shop):
    known = order_search.MOST_SEQUENCED, order_search.MOST_PLAIN
    order_search.MOST_SEQUENCED = 0
    try:
        plain = shortest_orders(shop, 10**6, 10**6)
        order_search.MOST_PLAIN = 0
        assert shortest_orders(shop, 10**6, 10**6) == plain
    finally:
        order_search.MOST_SEQUENCED, order_search.MOST_PLAIN = known


@pytest.mark.parametrize("part", [0.0, None])
def test_without_time_nothing_is_claimed(part):
    clock = Clock(Limits(time_s=part))
    run = Sequenced(BLOCKED, 10**6)
    low = run.none_before(1, 10**6, clock)
    assert low == 1 or part is None
    assert run.search(10**6, ENOUGH, clock).complete == (part is None)
