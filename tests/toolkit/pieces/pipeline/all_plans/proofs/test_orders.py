"""Proofs about the orders of one plan, against brute force and the bound of one machine."""

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.pieces.pipeline.all_plans.proofs import orders as module
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import OrderProof, Orders, Times
from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.exact_orders.order_search import shortest_orders
from gadgetopt.pieces.pipeline.one_machine import one_machine_bound
from gadgetopt.pieces.pipeline.shop import shop_of_times

from ...examples import least_makespan, shops

#: A plan whose least makespan takes more than heads, tails and pairs to prove.
DIVIDED = shop_of_times((3, 5, 14, 19, 15, 4, 15), (7, 6, 18, 2, 4, 2, 2), (7, 0, 8, 0, 2, 0, 9), 4)
LEAST = 189


def times_of(shop):
    fwd, bwd, allreduce = (
        tuple(x * shop.unit for x in row) for row in (shop.fwd, shop.bwd, shop.allreduce)
    )
    return Times(fwd, bwd, allreduce, shop.max_in_flight)


def orders_of(shop, *, compiled=False):
    return Orders(times_of(shop), shop.num_microbatches, shop.full_duplex, compiled=compiled)


@settings(max_examples=80)
@given(shops(3, 2))
def test_the_bound_is_between_that_of_one_machine_and_the_least_makespan(shop):
    orders, times = orders_of(shop), times_of(shop)
    bound_s = times.head_load_tail_s(shop.num_microbatches, shop.full_duplex)
    assert bound_s == head_load_tail(shop).value_s
    assert one_machine_bound(shop) * shop.unit <= orders.least_s()
    assert orders.least_s() <= least_makespan(shop) * shop.unit


@settings(max_examples=60)
@given(shops(2, 3), st.integers(-2, 2))
def test_what_branch_and_bound_divides_proves_the_least_makespan_and_no_more(shop, more):
    least = least_makespan(shop)
    parts = shortest_orders(shop, least, 10**7).parts
    moment = (least + more) * shop.unit
    assert orders_of(shop).none_before(moment, parts) == (more <= 0)


@settings(max_examples=60)
@given(st.data(), shops(2, 3), st.integers(0, 3))
def test_no_parts_prove_more_than_the_least_makespan(data, shop, more):
    """Whatever they say: trees of any pairs, or lists that are no trees."""
    pair = st.tuples(
        st.integers(0, shop.num_machines - 1),
        st.integers(0, shop.num_microbatches - 1),
        st.integers(0, shop.num_microbatches - 1),
    )
    parts = data.draw(st.lists(st.one_of(pair, st.just(())), min_size=1, max_size=9))
    moment = (least_makespan(shop) + 1 + more) * shop.unit
    proved = False
    with contextlib.suppress(ValueError):  # no tree
        proved = orders_of(shop).none_before(moment, parts)
    assert not proved


def test_a_proof_that_divides_orders():
    found = shortest_orders(DIVIDED, LEAST, 10**7)
    assert len(found.parts) > 1
    unit, orders = DIVIDED.unit, orders_of(DIVIDED)
    assert orders.least_s() < LEAST * unit
    assert orders.none_before(LEAST * unit, found.parts)
    assert not orders.none_before((LEAST + 1) * unit, found.parts)
    assert not orders.none_before(LEAST * unit, [()])
    with pytest.raises(ValueError, match="parts end early"):
        orders.none_before(LEAST * unit, found.parts[:-1])
    with pytest.raises(ValueError, match="parts go on after the end"):
        orders.none_before(LEAST * unit, [*found.parts, ()])
    with pytest.raises(ValueError, match="no pair of blocks 0 and 4 of machine 0"):
        orders.none_before(LEAST * unit, [(0, 0, 4), (), ()])
    with pytest.raises(ValueError, match="a part of 2 numbers"):
        orders.none_before(LEAST * unit, [(0, 0), (), ()])


@settings(max_examples=30)
@given(shops(3, 4))
def test_compiled_loops_say_the_same(shop):
    plain, compiled = orders_of(shop), orders_of(shop, compiled=True)
    least = plain.least_s()
    assert compiled.least_s() == least
    parts = shortest_orders(shop, int(least / shop.unit) + 1, 10**7).parts
    for more in (0, 1):
        moment = least + more * shop.unit
        assert plain.none_before(moment, parts) == compiled.none_before(moment, parts)


def test_numbers_of_any_size_are_exact(monkeypatch):
    large = shop_of_times(
        [x * 10**20 + 1 for x in DIVIDED.fwd],
        [x * 10**20 for x in DIVIDED.bwd],
        [x * 10**20 for x in DIVIDED.allreduce],
        4,
    )
    parts = shortest_orders(DIVIDED, LEAST, 10**7).parts
    orders = orders_of(large, compiled=True)
    assert not orders.compiled
    assert orders.none_before(LEAST * 10**20, parts)
    assert not orders.none_before((LEAST + 1) * 10**20, parts)
    monkeypatch.setattr(module, "MOST_LARGE_STEPS", 100)
    orders = orders_of(large)
    assert not orders.none_before(LEAST * 10**20, parts)
    assert orders.least_s() == 0


@settings(max_examples=60)
@given(shops(2, 2), st.data())
def test_times_that_are_no_shorter_have_no_shorter_schedule(shop, data):
    fwd = [f + data.draw(st.integers(0, 2)) for f in shop.fwd]
    caps = [data.draw(st.integers(1, cap)) for cap in shop.max_in_flight]
    other = shop_of_times(
        fwd,
        shop.bwd,
        shop.allreduce,
        shop.num_microbatches,
        full_duplex=shop.full_duplex,
        max_in_flight=caps,
    )
    assert times_of(other).no_shorter_than(times_of(shop))
    assert least_makespan(other) >= least_makespan(shop)


def test_times_of_other_numbers_of_stages_are_not_compared():
    one = Times((Fraction(1),), (Fraction(1),), (Fraction(0),), (1,))
    three = Times((Fraction(1),) * 3, (Fraction(1),) * 3, (Fraction(0),) * 3, (1, 1))
    assert not three.no_shorter_than(one)
    assert not one.no_shorter_than(three)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"bwd_s": (1, 1)}, "times of different numbers of stages and channels"),
        ({"in_flight": ()}, "times of different numbers of stages and channels"),
        ({"in_flight": (1, 0)}, "in_flight: 0, expected at least 1"),
        ({"allreduce_s": (0, 1, 0)}, "allreduce_s: of a channel"),
    ],
)
def test_times_of_no_plan_are_refused(changed, said):
    fields = {"fwd_s": (1, 1, 1), "bwd_s": (1, 1, 1), "allreduce_s": (0, 0, 0)}
    proof = OrderProof(**{**fields, "in_flight": (1, 1), **changed})
    with pytest.raises(ValueError, match=said):
        _ = proof.times


def test_times_are_not_negative():
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        OrderProof(fwd_s=(-1,), bwd_s=(1,), allreduce_s=(0,), in_flight=(1,))
