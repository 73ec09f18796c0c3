"""Least makespans over all plans, and what proves them, against brute force."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from gadgetopt.pieces.pipeline.all_plans import exact_plans
from gadgetopt.pieces.pipeline.all_plans.exact_plans import ExactPlans
from gadgetopt.pieces.pipeline.all_plans.proofs import orders
from gadgetopt.pieces.pipeline.all_plans.proofs.every_plan import proved_makespan_s
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import OrderProof
from gadgetopt.pieces.pipeline.instance import PipelineOptions
from gadgetopt.pieces.pipeline.plan import plan_violations
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.pieces.pipeline.simulator import simulate
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.data import Certificate, Rational
from gadgetopt.system.result import Limits

from ..examples import (
    GNMT,
    VGG16,
    all_plans,
    d1,
    d2,
    e1,
    e2,
    instances,
    least_makespan,
    profiled,
)
from ..schedule_checks import schedule_violations


class Claim(Certificate):
    """What a system's certificate holds."""

    bound_s: Rational
    orders: tuple[OrderProof, ...] = ()


def exact(instance, limits=None):
    search: Search = Search("min", limits or Limits())

    def certify(bound_s, proofs):
        return Claim(bound_s=bound_s, orders=proofs)

    run = ExactPlans(instance, search, np.random.default_rng(0), certify)
    run.run()
    return search, run


def checked(instance, search):
    """What the check makes of the certificate of a search."""
    claim = search.outcome(None).certificate
    return proved_makespan_s(instance, claim.bound_s, claim.orders)


def brute_force_s(instance):
    shops = {shop_of(instance, plan) for plan in all_plans(instance)}
    return min((least_makespan(shop) * shop.unit for shop in shops), default=None)


@settings(max_examples=40)
@given(instances(3, 2, 3))
def test_the_least_makespan_is_that_of_brute_force(instance):
    least = brute_force_s(instance)
    search, _ = exact(instance)
    if least is None:
        assert search.infeasible
        return
    plan, schedule = search.best
    assert not plan_violations(instance, plan)
    assert simulate(shop_of(instance, plan), schedule.orders).makespan_s == search.value == least
    shop = schedule.shop
    assert not list(schedule_violations(shop, schedule.fwd_start, schedule.bwd_start))
    assert search.closed
    assert search.bound <= least


@settings(max_examples=25)
@given(instances(3, 2, 3))
def test_the_least_makespan_is_proved(instance):
    least = brute_force_s(instance)
    if least:
        search, _ = exact(instance)
        assert least * (1 - Fraction(1, 10**9)) <= checked(instance, search) <= least


def test_a_check_that_gives_up_on_orders_proves_less(monkeypatch):
    instance = profiled(VGG16, 4, 2, 2, options=PipelineOptions(max_in_flight=2))
    search, run = exact(instance)
    assert search.outcome(None).certificate.orders
    assert run.notes["calls of CP-SAT"] == 0
    least = Fraction(search.value)
    assert checked(instance, search) == least
    monkeypatch.setattr(orders, "MOST_STEPS", 0)
    monkeypatch.setattr(orders, "MOST_LARGE_STEPS", 0)
    assert checked(instance, search) < least


@pytest.mark.parametrize(
    ("instance", "least"), [(e1(), 38), (e2(), Fraction(211, 6)), (d1(), 37.2), (d2(), 49)]
)
def test_hand_checked_optima(instance, least):
    search, _ = exact(instance)
    assert float(search.value) == pytest.approx(float(least), rel=1e-12)
    assert search.closed


@pytest.mark.parametrize(
    ("profile", "machines", "gpus", "count", "least"),
    [
        (VGG16, 2, 2, 4, 0.216199),
        (VGG16, 2, 4, 8, 0.097496),
        (VGG16, 4, 4, 16, 0.049090),
        (GNMT, 2, 2, 4, 0.040623),
    ],
)
def test_optima_of_profiles_are_proved_without_a_solver(profile, machines, gpus, count, least):
    instance = profiled(profile, count, machines, gpus)
    search, run = exact(instance)
    assert float(search.value) == pytest.approx(least, abs=1e-6)
    assert run.notes["calls of CP-SAT"] == 0
    assert float(checked(instance, search)) == pytest.approx(float(search.value), rel=1e-10)


def test_without_time_there_is_a_bound_that_holds():
    instance = profiled(VGG16, 8, 2, 4)
    search, _ = exact(instance, Limits(time_s=0.0))
    assert 0 < search.bound <= Fraction("0.097497")


def test_time_that_ends_among_the_plans_leaves_a_bound_that_holds(monkeypatch):
    """Bounding the plans of one cutoff may take longer than all before it."""
    instance = profiled(VGG16, 8, 2, 4)
    bounded, seen = exact_plans.one_machine_bound, []

    def slow(shop, **options):
        seen.append(shop)
        return bounded(shop, **options)

    monkeypatch.setattr(exact_plans, "one_machine_bound", slow)
    monkeypatch.setattr(Clock, "expired", property(lambda _: len(seen) >= 2))
    search, run = exact(instance)
    assert len(seen) == 2
    assert run.notes["plans left"] <= 2
    assert 0 < search.bound <= Fraction("0.097497")
    assert search.value >= Fraction("0.097496")
    assert checked(instance, search) == search.bound


def test_plans_are_bounded_where_there_is_no_incumbent_yet(monkeypatch):
    monkeypatch.setattr(ExactPlans, "_first", lambda *_: None)
    search, _ = exact(e1())
    assert search.closed
    assert search.value == 38


def test_no_incumbent_is_needed_for_a_cutoff_that_no_plan_is_below(monkeypatch):
    monkeypatch.setattr(ExactPlans, "_first", lambda *_: None)
    monkeypatch.setattr(exact_plans, "RUNGS", (0.5, *exact_plans.RUNGS))
    search, _ = exact(e1())
    assert search.closed
    assert search.value == 38


def test_a_gap_ends_the_search_early():
    search, run = exact(profiled(VGG16, 4, 2, 2), Limits(rel_gap=0.5))
    assert search.closed
    assert "plans enumerated" not in run.notes
