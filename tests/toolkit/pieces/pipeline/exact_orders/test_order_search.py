"""Shortest orders by branch and bound: against brute force and CP-SAT."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.pieces.pipeline.cp_schedule import cp_schedule
from gadgetopt.pieces.pipeline.exact_orders.order_search import shortest_orders, whole_corridor
from gadgetopt.pieces.pipeline.orders import round_orders
from gadgetopt.pieces.pipeline.shop import shop_of_times
from gadgetopt.pieces.pipeline.simulator import order_violations, simulate
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ..examples import least_makespan, shops

ENOUGH = 10**7

#: The plan of the quickstart instance of DAPPLE: no one-machine bound attains its least makespan.
QUICKSTART = shop_of_times(
    (712080000, 910044432, 561180000),
    (1404000000, 910044432, 1142340000),
    (6882110, 0, 1243852925),
    8,
)


@settings(max_examples=100)
@given(shops(2, 3))
def test_the_shortest_orders_are_those_of_brute_force(shop):
    least = least_makespan(shop)
    found = shortest_orders(shop, least + 1, ENOUGH)
    assert found.complete
    assert not list(order_violations(shop, found.orders))
    assert simulate(shop, found.orders).makespan == least


@settings(max_examples=100)
@given(shops(3, 2), st.integers(0, 3))
def test_no_orders_are_found_below_the_optimum(shop, less):
    found = shortest_orders(shop, least_makespan(shop) - less, ENOUGH)
    assert found.complete
    assert found.orders is None


@settings(max_examples=60)
@given(shops(4, 5))
def test_longer_pipelines_are_as_long_as_cp_sat_says(shop):
    solved = cp_schedule(shop, Limits(), start=simulate(shop, round_orders(shop)))
    found = shortest_orders(shop, solved.schedule.makespan + 1, ENOUGH)
    assert found.complete
    assert simulate(shop, found.orders).makespan == solved.schedule.makespan


def test_numbers_of_any_size_are_exact():
    least = 8835792079 * 2
    assert shortest_orders(QUICKSTART, least, ENOUGH).orders is None
    found = shortest_orders(QUICKSTART, least + 1, ENOUGH)
    assert simulate(QUICKSTART, found.orders).makespan == least
    scale = 10**30
    large = replace(
        QUICKSTART,
        **{
            name: tuple(scale * x for x in getattr(QUICKSTART, name))
            for name in ("fwd", "bwd", "allreduce")
        },
    )
    assert shortest_orders(large, scale * least, ENOUGH).orders is None
    found = shortest_orders(large, scale * least + 1, ENOUGH)
    assert simulate(large, found.orders).makespan == scale * least


@pytest.mark.parametrize("given_up", [{"most_work": 0}, {"most_work": ENOUGH, "clock": True}])
def test_a_search_that_gives_up_proves_nothing(given_up):
    if "clock" in given_up:
        given_up = {**given_up, "clock": Clock(Limits(time_s=0.0))}
    found = shortest_orders(QUICKSTART, 10**12, **given_up)
    assert not found.complete
    assert found.orders is None


def test_the_corridor_leaves_as_few_in_flight_as_a_stage_holds():
    shop = replace(QUICKSTART, max_in_flight=(2, 1))
    corridor = whole_corridor(shop)
    assert corridor.most[0] == [2, 3, 4, 5, 6, 7, 8, 8]
    assert corridor.few[2] == corridor.most[2] == list(range(1, 9))
    turned = corridor.turned()
    assert turned.turned() == corridor
    # The last forward is the first backward of reversed time; backwards 7 and 8 may come after it.
    assert turned.most[0][0] == 2
