"""The memetic search and the kernels: laws, hand-checked optima, and who searches what."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from gadgetopt.models.knapsack.data.generate.presets import multiple_choice, paper
from gadgetopt.models.knapsack.scaling import scaled
from gadgetopt.pieces.knapsack.cardinality import incumbent
from gadgetopt.pieces.knapsack.core import cg_core
from gadgetopt.pieces.knapsack.heuristics import memetic
from gadgetopt.pieces.knapsack.heuristics.memetic import MemeticSearch
from gadgetopt.pieces.knapsack.kernels import climb
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import linear_relaxation
from gadgetopt.pieces.knapsack.sharpening import MOST_SETS, sets_within_gap
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ..small_knapsacks import FIVE_ITEMS, KHAN_1, PETERSEN_1, WEING_1, best_value, fits, knapsacks


def drawn(seed, items=60, rows=10):
    return scaled(paper(np.random.default_rng(seed), items=items, rows=rows)).knapsack


def searched(knapsack, children, seed=0, chosen=None):
    search = MemeticSearch(knapsack, linear_relaxation(knapsack), chosen, seed)
    search.run(Clock(), children)
    return search


@settings(max_examples=40)
@given(knapsacks(single=True, exactly_one=False))
def test_a_search_fits_and_never_exceeds_the_optimum(knapsack):
    relaxation = linear_relaxation(knapsack)
    if relaxation.duals is None:
        return
    first = incumbent(knapsack, relaxation, Clock())
    search = MemeticSearch(knapsack, relaxation, first, 0)
    search.run(Clock(), 200)
    assert fits(knapsack, search.chosen)
    assert knapsack.value(first) <= search.value <= best_value(knapsack) + 1e-9
    assert search.value == knapsack.value(search.chosen)


@pytest.mark.parametrize(
    ("knapsack", "optimum"), [(FIVE_ITEMS, 27), (PETERSEN_1, 3800), (WEING_1, 141278)]
)
def test_a_search_finds_known_optima(knapsack, optimum):
    assert searched(knapsack, 20_000).value == optimum


def test_a_search_depends_on_seed_and_children_alone():
    knapsack = drawn(1)
    one, other = searched(knapsack, 3000, seed=5), searched(knapsack, 3000, seed=5)
    assert np.array_equal(one.chosen, other.chosen)
    assert one.children == other.children == 3000
    # In steps it is the same search.
    steps = MemeticSearch(knapsack, linear_relaxation(knapsack), None, 5)
    for _ in range(10):
        steps.run(Clock(), 300)
    assert np.array_equal(one.chosen, steps.chosen)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("unit", [1.0, 1e9, 1e300])
def test_items_without_a_price_come_first_by_profit_whatever_its_unit(unit):
    profit = np.array([1.0, 3.0, 2.0]) * unit
    usable = Knapsack(profit, np.ones((3, 1)), np.arange(3), np.array([3.0]))
    rng = np.random.default_rng(0)
    *_, by_utility, _ = memetic._items(usable, np.zeros(1), np.zeros(3), np.full(1, 3.0), rng)
    assert by_utility.tolist() == [1, 2, 0]
    assert sorted(searched(usable, 100).chosen.tolist()) == [0, 1, 2]


def test_more_children_are_never_worse_and_a_known_choice_is_kept():
    knapsack = drawn(2)
    values = [searched(knapsack, children).value for children in (100, 1000, 20_000)]
    assert values == sorted(values)
    best = searched(knapsack, 20_000)
    assert searched(knapsack, 0, chosen=best.chosen).value == best.value


def test_a_search_ends_at_the_clock():
    search = MemeticSearch(drawn(3), linear_relaxation(drawn(3)), None, 0)
    search.run(Clock(Limits(time_s=0.0)))
    assert search.children == 0


@settings(max_examples=60)
@given(knapsacks(single=False))
def test_kernels_end_in_the_optimum_that_they_prove(knapsack):
    relaxation = linear_relaxation(knapsack)
    if relaxation.duals is None:
        return
    first = incumbent(knapsack, relaxation, Clock())
    ladder = climb(knapsack, relaxation, first, Clock())
    best = best_value(knapsack)
    value = -math.inf if ladder.chosen is None else knapsack.value(ladder.chosen)
    assert value == best or value == pytest.approx(best, abs=1e-7)
    assert best - 1e-9 <= ladder.proved <= best + 1e-7 or best == ladder.proved
    if ladder.chosen is not None:
        assert fits(knapsack, ladder.chosen)


def test_kernels_find_the_optimum_of_khans_first_problem():
    relaxation = linear_relaxation(KHAN_1)
    ladder = climb(KHAN_1, relaxation, incumbent(KHAN_1, relaxation, Clock()), Clock())
    assert ladder.proved == 173
    assert ladder.chosen.tolist() == [3, 9, 11, 17, 23]


def test_kernels_without_time_keep_the_incumbent_and_prove_nothing():
    relaxation = linear_relaxation(KHAN_1)
    first = incumbent(KHAN_1, relaxation, Clock())
    ladder = climb(KHAN_1, relaxation, first, Clock(Limits(time_s=0.0)))
    assert ladder.proved is None
    assert np.array_equal(ladder.chosen, first)


def test_groups_after_small_kernels_agree_with_enumeration_alone():
    knapsack = scaled(multiple_choice(np.random.default_rng(1), groups=9)).knapsack
    after_kernels = cg_core(knapsack, Limits(time_s=30.0), np.random.default_rng(0))
    alone = cg_core(knapsack, Limits(time_s=30.0), core_solver="enumeration")
    assert after_kernels.notes["kernel"] > 0
    assert after_kernels.optimal
    assert alone.optimal
    assert after_kernels.value == alone.value


def test_sets_within_the_gap_are_counted():
    # Losses at the duals: no set but the relaxation's own loses nothing where the gap is 0.
    relaxation = linear_relaxation(PETERSEN_1)
    first = incumbent(PETERSEN_1, relaxation, Clock())
    assert 1 <= sets_within_gap(PETERSEN_1, relaxation, first) <= 2**6
    assert sets_within_gap(PETERSEN_1, relaxation, None) == math.inf


@pytest.mark.parametrize("kind", ["rows", "groups"])
def test_a_knapsack_beyond_enumeration_is_searched_and_bounded_in_time(kind):
    rng = np.random.default_rng(0)
    instance = paper(rng, rows=30) if kind == "rows" else multiple_choice(rng, groups=60)
    knapsack = scaled(instance).knapsack
    relaxation = linear_relaxation(knapsack)
    first = incumbent(knapsack, relaxation, Clock())
    assert sets_within_gap(knapsack, relaxation, first) > MOST_SETS
    found = cg_core(knapsack, Limits(time_s=1.0), np.random.default_rng(0))
    assert fits(knapsack, found.chosen)
    assert knapsack.value(first) <= found.value <= found.bound <= relaxation.bound
    assert found.limit_hit == "time_s"
    assert "children" in found.notes or "kernel" in found.notes


def test_a_search_settles_soon_after_populations_without_success(monkeypatch):
    monkeypatch.setattr(memetic, "PATIENCE", 2_500)
    monkeypatch.setattr(memetic, "STEP", 1_000)
    knapsack = drawn(0)
    search = MemeticSearch(knapsack, linear_relaxation(knapsack), None, 0)
    search.settle(Clock(Limits(time_s=60)), 3)
    ended = search.populations - search._improved_in
    # The population of the last success, three without, and what a step began.
    assert 3 <= ended <= 4
