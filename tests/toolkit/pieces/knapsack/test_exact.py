"""The exact knapsack solvers against brute force and each other."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from gadgetopt.errors import ModelRefused
from gadgetopt.models.knapsack.data.importers.reading import read_mmkp, read_orlib
from gadgetopt.models.knapsack.scaling import scaled
from gadgetopt.pieces.knapsack.cardinality import solve_by_cardinality
from gadgetopt.pieces.knapsack.core import cg_core
from gadgetopt.pieces.knapsack.direct import solve_mip
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import linear_relaxation
from gadgetopt.pieces.knapsack.sharpening import _in_window
from gadgetopt.system.result import Limits

from .small_knapsacks import FIVE_ITEMS, KHAN_1, PETERSEN_1, WEING_1, best_value, fits, knapsacks

ROUTES = {
    "auto": cg_core,
    "enumeration": lambda k: cg_core(k, core_solver="enumeration"),
    "mip": lambda k: cg_core(k, core_solver="mip"),
    "one slice": lambda k: solve_by_cardinality(k, by_count=False),
    "highs": lambda k: solve_mip(k, "highs"),
    "cpsat": lambda k: solve_mip(k, "cpsat", profit_scale=10**7),
}


@pytest.fixture(scope="module")
def data(root):
    folder = root.parent / "shared" / "data"
    if not folder.exists():
        pytest.skip(f"needs the public knapsack files in {folder}")
    return folder


def assert_proved(knapsack, result, best, tolerance=1e-8):
    if best == -math.inf:
        assert result.infeasible
        return
    assert fits(knapsack, result.chosen)
    assert result.value == pytest.approx(best, abs=tolerance)
    assert result.value == pytest.approx(knapsack.value(result.chosen), abs=1e-9)
    assert best - 1e-9 <= result.bound <= best + tolerance


@settings(max_examples=150)
@given(knapsacks())
def test_enumeration_and_cores_find_what_brute_force_finds(knapsack):
    best = best_value(knapsack)
    for route in ("auto", "enumeration", "one slice"):
        assert_proved(knapsack, ROUTES[route](knapsack), best)


@settings(max_examples=20)
@given(knapsacks())
def test_solvers_find_what_brute_force_finds(knapsack):
    best = best_value(knapsack)
    for route in ("mip", "highs"):
        assert_proved(knapsack, ROUTES[route](knapsack), best, 1e-5)
    # Profits rounded down at 10^-7 leave the bound a unit per group above.
    assert_proved(knapsack, ROUTES["cpsat"](knapsack), best, 1e-5)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    ("knapsack", "value", "chosen"),
    [
        (FIVE_ITEMS, 27, [0, 1]),
        (PETERSEN_1, 3800, [1, 2, 5]),
        (WEING_1, 141278, None),
        (KHAN_1, 173, [3, 9, 11, 17, 23]),
    ],
    ids=["five", "petersen", "weing", "khan"],
)
def test_hand_checked_and_public_optima(route, knapsack, value, chosen):
    result = ROUTES[route](knapsack)
    assert result.optimal
    assert result.value == value
    assert fits(knapsack, result.chosen)
    if chosen is not None:
        assert result.chosen.tolist() == chosen


def test_nothing_fits_where_a_capacity_is_zero():
    knapsack = replace(FIVE_ITEMS, capacity=np.array([13.0, 0.0]))
    result = cg_core(knapsack)
    assert result.optimal
    assert result.value == 0
    assert result.chosen.tolist() == []


def test_items_of_no_weight_fit_where_a_capacity_is_zero():
    knapsack = Knapsack(
        np.array([3.0, 4.0]), np.array([[0.0], [1.0]]), np.arange(2), np.array([0.0])
    )
    assert cg_core(knapsack).chosen.tolist() == [0]


def test_no_items_at_all():
    nothing = Knapsack(
        np.empty(0), np.empty((0, 2)), np.empty(0, dtype=np.int64), np.array([1.0, 2.0])
    )
    for route in ROUTES.values():
        assert route(nothing).value == 0
        assert route(nothing).bound == pytest.approx(0)


def test_a_group_without_items_is_left_out_or_makes_it_infeasible():
    gap = Knapsack(
        np.array([3.0, 4.0]), np.array([[1.0], [1.0]]), np.array([0, 2]), np.array([2.0])
    )
    assert cg_core(gap).value == 7
    assert cg_core(replace(gap, exactly_one=True)).infeasible
    assert solve_mip(replace(gap, exactly_one=True)).infeasible


def test_negative_profits_count_where_an_item_must_be_chosen():
    knapsack = Knapsack(
        np.array([-3.0, -5.0, 2.0]),
        np.array([[4.0], [1.0], [3.0]]),
        np.array([0, 0, 1]),
        np.array([5.0]),
        exactly_one=True,
    )
    result = cg_core(knapsack)
    assert result.value == -3
    assert result.chosen.tolist() == [1, 2]
    assert result.optimal


def test_decimals_at_the_edge_of_a_capacity_fit():
    # 0.1 + 0.2 exceeds 0.3 in doubles.
    knapsack = Knapsack(
        np.array([1.0, 1.0]), np.array([[0.1], [0.2]]), np.arange(2), np.array([0.3])
    )
    assert cg_core(knapsack).value == 2


def test_weights_of_many_decimals_are_refused_by_enumeration_and_left_to_highs():
    knapsack = replace(WEING_1, weight=WEING_1.weight / 7, capacity=WEING_1.capacity / 7)
    with pytest.raises(ModelRefused, match="more than six decimals"):
        solve_by_cardinality(knapsack)
    result = cg_core(knapsack)
    assert "HiGHS" in result.proof
    assert result.value == 141278


def test_cpsat_does_not_round_silently():
    knapsack = replace(FIVE_ITEMS, profit=FIVE_ITEMS.profit / 3)
    with pytest.raises(ModelRefused, match="profit_scale"):
        solve_mip(knapsack, "cpsat")
    result = solve_mip(knapsack, "cpsat", profit_scale=100)
    assert result.value == pytest.approx(9)
    assert 9 <= result.bound <= 9 + 5 / 100


def test_a_run_out_of_time_keeps_choice_and_bound():
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 1000, (100, 20)).astype(float)
    profit = np.round(weight.mean(axis=1) + 500 * rng.random(100))
    knapsack = Knapsack(profit, weight, np.arange(100), np.floor(weight.sum(axis=0) / 2))
    result = cg_core(knapsack, Limits(time_s=0.5))
    assert result.limit_hit == "time_s"
    assert not result.optimal
    assert fits(knapsack, result.chosen)
    assert result.value < result.bound <= result.lagrangian


def test_many_groups_with_many_items_are_closed_by_a_small_core():
    rng = np.random.default_rng(1)
    groups, items = 60, 40
    weight = rng.integers(1, 60, (groups * items, 4)).astype(float)
    profit = weight.sum(axis=1) ** 0.5 * rng.uniform(1, 5, groups * items)
    owner = np.repeat(np.arange(groups), items)
    knapsack = Knapsack(profit, weight, owner, np.full(4, 400.0))
    result = cg_core(knapsack)
    assert result.optimal
    assert result.notes["columns"] < 6 * groups
    assert result.bound <= result.lagrangian


def test_mknap1_is_proved(data):
    optima = [3800, 8706.1, 4015, 6120, 12400, 10618, 16537]
    problems = read_orlib(data / "orlib" / "mknap1.txt").problems
    for problem, optimum in zip(problems, optima, strict=True):
        whole = scaled(problem.instance)
        result = cg_core(whole.knapsack)
        assert result.optimal
        assert float(whole.profit(result.value)) == optimum


def test_mknap2_is_proved(data):
    optima = {
        **dict(zip(("sento1", "sento2"), (7772, 8722), strict=True)),
        **_numbered("weing{}", 1, (141278, 130883, 95677, 119337, 98796, 130623, 1095445, 624319)),
        **_numbered("weish{:02}", 1, (4554, 4536, 4115, 4561, 4514, 5557, 5567, 5605, 5246, 6339)),
        **_numbered("weish{:02}", 11, (5643, 6339, 6159, 6954, 7486, 7289, 8633, 9580, 7698, 9450)),
        **_numbered("weish{}", 21, (9074, 8947, 8344, 10220, 9939, 9584, 9819, 9492, 9410, 11191)),
        **{"pb1": 3090, "pb2": 3186, "pb4": 95168, "pb5": 2139, "pb6": 776, "pb7": 1035},
        **{"hp1": 3418, "hp2": 3186},
    }
    problems = read_orlib(data / "orlib" / "mknap2.txt").problems
    assert {problem.name for problem in problems} == set(optima)
    for problem in problems:
        whole = scaled(problem.instance)
        result = cg_core(whole.knapsack)
        assert result.optimal, problem.name
        assert whole.profit(result.value) == optima[problem.name], problem.name


@pytest.mark.parametrize(
    ("name", "optimum"),
    [("I01", "173"), ("I02", "364"), ("I03", "1602"), ("I05", "3905.7"), ("I06", "4799.3")],
)
def test_khans_problems_are_proved(data, name, optimum):
    whole = scaled(read_mmkp(data / "mmkp" / name).problems[0].instance)
    result = cg_core(whole.knapsack)
    assert result.optimal
    assert float(whole.profit(result.value)) == float(optimum)


def test_chu_and_beasleys_first_problem_is_proved(data):
    problem = read_orlib(data / "orlib" / "mknapcb1.txt").problems[0]
    result = cg_core(scaled(problem.instance).knapsack)
    assert result.optimal
    assert result.value == 24381
    assert "exact arithmetic" in result.proof


def _numbered(name, first, values):
    return {name.format(first + i): value for i, value in enumerate(values)}


@pytest.mark.parametrize("known", [True, False])
def test_a_window_of_undecided_items_makes_a_choice_better_and_feasible(known):
    rng = np.random.default_rng(3)
    weight = rng.integers(1, 1000, (400, 4)).astype(float)
    profit = np.floor(weight.mean(axis=1) + 500 * rng.uniform(size=400))
    knapsack = Knapsack(profit, weight, np.arange(400), np.floor(weight.sum(axis=0) / 4))
    relaxation = linear_relaxation(knapsack)
    rounded = np.flatnonzero(relaxation.y > 1 - 1e-6)
    limits = Limits(time_s=60.0)
    found = _in_window(knapsack, relaxation, rounded if known else None, 20, limits, rng)
    assert fits(knapsack, found)
    assert knapsack.value(rounded) < knapsack.value(found) <= relaxation.bound
