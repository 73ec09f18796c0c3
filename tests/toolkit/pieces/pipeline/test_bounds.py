"""Lower bounds of a shop against brute force over all orders, and what CP-SAT says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings

from gadgetopt.pieces.pipeline.bound import head_load_tail, machine_bounds
from gadgetopt.pieces.pipeline.cp_schedule import cp_schedule
from gadgetopt.pieces.pipeline.improvement import improved_schedule, rule_schedules
from gadgetopt.pieces.pipeline.one_machine import one_machine_bound
from gadgetopt.pieces.pipeline.orders import round_orders
from gadgetopt.pieces.pipeline.simulator import simulate
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from .examples import e3, least_makespan, shops


@settings(max_examples=60)
@given(shops(2, 3))
def test_bounds_optimum_and_rules_are_in_order(shop):
    optimum = least_makespan(shop)
    assert max(shop.loads) <= head_load_tail(shop).value
    bound = one_machine_bound(shop)
    assert head_load_tail(shop).value <= bound <= optimum
    assert bound >= one_machine_bound(shop, enough=bound - 1) >= bound - 1
    assert one_machine_bound(shop, enough=bound + 1) == bound
    assert optimum <= min(s.makespan for s in rule_schedules(shop))


@settings(max_examples=40)
@given(shops(2, 3))
def test_cp_sat_finds_the_optimum(shop):
    solved = cp_schedule(shop, Limits())
    assert solved.closed
    assert solved.schedule.makespan == solved.bound == least_makespan(shop)


@settings(max_examples=8)
@given(shops(3, 2))
def test_cp_sat_finds_the_optimum_of_three_stages(shop):
    assert cp_schedule(shop, Limits()).schedule.makespan == least_makespan(shop)


@settings(max_examples=15)
@given(shops(2, 2))
def test_the_order_by_index_loses_nothing(shop):
    """Sorting the starts of each block type keeps a schedule feasible."""
    anyhow = least_makespan(shop, by_index=False)
    assert least_makespan(shop) == anyhow
    assert cp_schedule(shop, Limits(), index_order=False).schedule.makespan == anyhow


@settings(max_examples=30)
@given(shops(3, 4))
def test_coarse_ticks_give_a_bound_that_holds(shop):
    fine = replace(shop, fwd=tuple(1000 * f + 7 for f in shop.fwd), unit=shop.unit / 1000)
    optimum = cp_schedule(fine, Limits())
    coarse = cp_schedule(fine, Limits(), most_ticks=50)
    assert coarse.bound <= optimum.schedule.makespan <= coarse.schedule.makespan


@settings(max_examples=20)
@given(shops(3, 4))
def test_with_a_cutoff_at_the_optimum_nothing_shorter_is_found(shop):
    optimum = cp_schedule(shop, Limits()).schedule.makespan
    below = cp_schedule(shop, Limits(), cutoff=optimum)
    assert below.closed
    assert below.schedule is None
    assert below.bound == optimum
    above = cp_schedule(shop, Limits(), cutoff=optimum + 1)
    assert above.schedule.makespan == optimum


@given(shops(4, 5))
def test_local_search_is_no_worse_than_the_rules(shop):
    bound = one_machine_bound(shop)
    found = improved_schedule(shop, bound, Clock(), np.random.default_rng(0), rounds=10)
    assert bound <= found.makespan <= min(s.makespan for s in rule_schedules(shop))


def test_e3():
    """E3: stage 0 is busy 16; the channel costs 2 more in every order."""
    shop = e3()
    bound = head_load_tail(shop)
    assert (bound.value, bound.machine, bound.head, bound.load, bound.tail) == (16, 0, 0, 16, 0)
    solved = cp_schedule(shop, Limits(), start=simulate(shop, round_orders(shop)))
    assert (solved.schedule.makespan, solved.bound, solved.closed) == (18, 18, True)


def test_every_machine_has_a_bound_and_full_duplex_channels_two():
    shop = e3()
    assert len(list(machine_bounds(shop))) == 3
    directions = [b.direction for b in machine_bounds(replace(shop, full_duplex=True))]
    assert directions == ["both", "forward", "backward", "both"]
