"""Search of single items in two halves, against brute force, enumeration and HiGHS."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.knapsack import halves
from gadgetopt.pieces.knapsack.core import cg_core
from gadgetopt.pieces.knapsack.direct import solve_mip
from gadgetopt.pieces.knapsack.halves import solve_by_halves
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import linear_relaxation
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from .small_knapsacks import FIVE_ITEMS, PETERSEN_1, WEING_1, best_value, fits, knapsacks


def by_halves(knapsack, chosen=None, limits=None):
    return solve_by_halves(knapsack, linear_relaxation(knapsack), chosen, Clock(limits))


def random_items(seed, items, rows=4, digits=None):
    """Return a knapsack of small whole weights; profits have so many decimals, or all."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 21, (items, rows)).astype(float)
    profit = rng.uniform(1, 100, items)
    profit = profit if digits is None else np.round(profit, digits)
    return Knapsack(profit, weight, np.arange(items), np.floor(weight.sum(axis=0) / 4))


@settings(max_examples=150)
@given(knapsacks(exactly_one=False))
def test_halves_find_what_brute_force_finds(knapsack):
    single = replace(knapsack, owner=np.arange(knapsack.num_items))
    if single.num_items > 12:
        return
    relaxation = linear_relaxation(single)
    if relaxation.infeasible:
        return
    best = best_value(single)
    found = solve_by_halves(single, relaxation, None, Clock())
    if found.limit_hit == "nodes":
        assert found.bound >= best - 1e-9
        return
    assert fits(single, found.chosen)
    assert found.value == pytest.approx(best, abs=1e-8)
    assert best - 1e-9 <= found.bound <= best + 1e-8


@pytest.mark.parametrize(
    ("knapsack", "optimum"), [(FIVE_ITEMS, 27), (PETERSEN_1, 3800), (WEING_1, 141278)]
)
def test_hand_checked_and_public_optima(knapsack, optimum):
    found = by_halves(knapsack)
    assert found.limit_hit is None
    assert found.value == found.bound == optimum
    assert fits(knapsack, found.chosen)


@pytest.mark.parametrize("digits", [0, 2, None])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_halves_and_enumeration_agree(seed, digits):
    knapsack = random_items(seed, 60, digits=digits)
    found = by_halves(knapsack)
    proved = cg_core(knapsack, core_solver="enumeration")
    assert found.optimal
    assert proved.optimal
    assert fits(knapsack, found.chosen)
    assert found.value == pytest.approx(proved.value, rel=1e-9)


def test_halves_and_highs_agree_on_decimal_weights():
    knapsack = random_items(5, 80)
    knapsack = replace(knapsack, weight=knapsack.weight / 10, capacity=knapsack.capacity / 10)
    found, claimed = by_halves(knapsack), solve_mip(knapsack)
    assert found.optimal
    assert found.value == pytest.approx(claimed.value, rel=1e-6)
    assert found.bound >= claimed.value - 1e-6


def test_a_bound_is_never_below_the_incumbent_nor_above_the_relaxation():
    knapsack = random_items(7, 1000)
    found = cg_core(knapsack)
    assert found.optimal
    assert "two halves" in found.proof
    assert found.value <= found.bound <= found.lagrangian
    assert fits(knapsack, found.chosen)


def test_an_optimal_incumbent_stays_and_a_worse_one_does_not():
    knapsack = random_items(8, 100)
    best = by_halves(knapsack)
    assert by_halves(knapsack, best.chosen).chosen.tolist() == best.chosen.tolist()
    assert by_halves(knapsack, best.chosen[:5]).value == pytest.approx(best.value, rel=1e-12)


def test_runs_are_the_same():
    knapsack = random_items(9, 500)
    one, other = (cg_core(knapsack, rng=np.random.default_rng(seed)) for seed in (0, 1))
    assert one.chosen.tolist() == other.chosen.tolist()
    assert one.bound == other.bound


@pytest.mark.parametrize(("name", "most"), [("MOST_NUMBERS", 300), ("MOST_PAIRS", 0)])
def test_lists_too_long_leave_a_valid_bound_and_the_core_to_others(monkeypatch, name, most):
    knapsack = random_items(10, 60)
    best = by_halves(knapsack)
    monkeypatch.setattr(halves, name, most)
    some = by_halves(knapsack)
    assert some.limit_hit == "nodes"
    assert some.value <= best.value + 1e-9 <= some.bound + 2e-9
    proved = cg_core(knapsack)
    assert proved.optimal
    assert proved.value == pytest.approx(best.value, rel=1e-9)
    assert "two halves" not in proved.proof


def test_out_of_time_keeps_incumbent_and_bound():
    knapsack = random_items(11, 200)
    relaxation = linear_relaxation(knapsack)
    first = np.array([0])
    found = solve_by_halves(knapsack, relaxation, first, Clock(Limits(time_s=0.0)))
    assert found.limit_hit == "time_s"
    assert found.chosen.tolist() == [0]
    assert found.bound == relaxation.bound


def test_weights_of_many_decimals_are_refused():
    knapsack = replace(WEING_1, weight=WEING_1.weight / 7, capacity=WEING_1.capacity / 7)
    with pytest.raises(ModelRefused, match="more than six decimals"):
        by_halves(knapsack)
