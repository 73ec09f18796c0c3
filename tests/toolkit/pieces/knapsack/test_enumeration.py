"""Enumeration of levels, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from gadgetopt.errors import ModelRefused
from gadgetopt.models.knapsack.data.generate.presets import paper
from gadgetopt.models.knapsack.scaling import scaled
from gadgetopt.pieces.knapsack import enumeration
from gadgetopt.pieces.knapsack.cardinality import solve_by_cardinality
from gadgetopt.pieces.knapsack.enumeration import Levels, enumerate_levels
from gadgetopt.pieces.knapsack.integral import decimal_unit, integral
from gadgetopt.pieces.knapsack.relaxation import linear_relaxation
from gadgetopt.pieces.knapsack.tail_prices import TailLp
from gadgetopt.search.clock import Clock

from .small_knapsacks import best_value, fits, knapsacks


def levels_of(knapsack, duals):
    """Return the levels of a knapsack's groups, the last option being none, and their prices."""
    whole = integral(knapsack, duals)
    profits, weights = [], []
    for first, last in zip(knapsack.group_starts[:-1], knapsack.group_starts[1:], strict=True):
        profits.append(np.append(whole.profit[first:last], 0.0))
        weights.append(np.vstack([whole.weight[first:last], np.zeros(len(whole.capacity))]))
    levels = Levels(profits, weights, whole.capacity, whole.reach, whole.profit_reach, whole.scale)
    return levels, whole


def random_levels(seed, levels=26, rows=3):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 50, (levels, rows)).astype(float)
    profits = weights.sum(axis=1) + rng.integers(0, 30, levels)
    capacity = np.floor(weights.sum(axis=0) / 2)
    scale = 2.0**20
    return Levels(
        [np.array([0.0, p * scale]) for p in profits],
        [np.array([np.zeros(rows), w]) for w in weights],
        capacity,
        capacity + weights.sum(axis=0),
        float(profits.sum()) * scale,
        scale,
    )


@settings(max_examples=80)
@given(knapsacks(exactly_one=False))
def test_any_prices_lead_to_the_same_optimum(knapsack):
    best = best_value(knapsack)
    for duals in (np.zeros(len(knapsack.capacity)), np.ones(len(knapsack.capacity))):
        levels, whole = levels_of(knapsack, duals)
        found = enumerate_levels(levels, whole.prices(duals), 0.0, whole.step, Clock())
        assert found.finished
        assert found.profit / whole.scale == pytest.approx(best, abs=1e-8)


@settings(max_examples=80)
@given(knapsacks(exactly_one=False))
def test_options_are_those_of_the_profit(knapsack):
    duals = np.ones(len(knapsack.capacity))
    levels, whole = levels_of(knapsack, duals)
    found = enumerate_levels(levels, whole.prices(duals), 0.0, whole.step, Clock())
    starts = knapsack.group_starts
    items = [
        int(starts[i]) + o
        for i, o in enumerate(found.options)
        if o < int(starts[i + 1] - starts[i])
    ]
    assert fits(knapsack, items)
    assert knapsack.value(items) == pytest.approx(found.profit / whole.scale, abs=1e-8)


def test_nothing_is_found_above_the_optimum():
    levels = random_levels(0)
    prices = np.full(3, levels.scale)
    best = enumerate_levels(levels, prices, 0.0, levels.scale, Clock())
    above = enumerate_levels(levels, prices, best.profit + levels.scale, levels.scale, Clock())
    again = enumerate_levels(levels, prices, best.profit, levels.scale, Clock())
    assert above.finished
    assert above.profit is None
    assert again.profit == best.profit


def test_small_blocks_and_further_prices_change_no_result(monkeypatch):
    levels = random_levels(1)
    prices = np.full(3, levels.scale)
    best = enumerate_levels(levels, prices, 0.0, levels.scale, Clock())
    monkeypatch.setattr(enumeration, "SAMPLED_BITS", ())
    without = enumerate_levels(levels, prices, 0.0, levels.scale, Clock())
    monkeypatch.setattr(enumeration, "BLOCK_NUMBERS", 1)
    monkeypatch.setattr(enumeration, "SAMPLED_BITS", (20, 15, 10))
    monkeypatch.setattr(enumeration, "LEAST_SAMPLED", 64)
    small = enumerate_levels(levels, prices, 0.0, levels.scale, Clock())
    assert best.profit == without.profit == small.profit


def test_further_prices_come_deeper_where_levels_have_more_options():
    assert max(enumeration._sampled([2] * 15)) == 15
    assert min(enumeration._sampled([2] * 100)) == 12
    assert min(enumeration._sampled([10] * 100)) == 3
    assert enumeration._sampled([]) == {0}


def test_further_prices_prune():
    levels = random_levels(2, levels=40)
    prices = np.full(3, levels.scale)
    assert TailLp(levels).duals(0, levels.capacity[:, None], Clock())
    relaxed = TailLp(levels).duals(0, levels.capacity[:, None], Clock())[0]
    at_optimum = enumerate_levels(levels, relaxed, 0.0, levels.scale, Clock(), 1e7)
    elsewhere = enumerate_levels(levels, prices, 0.0, levels.scale, Clock(), 1e7)
    assert at_optimum.finished
    assert at_optimum.nodes < elsewhere.nodes


def test_blocks_never_hold_more_nodes_than_they_may(monkeypatch):
    largest = 0
    expand = enumeration._Search._expand

    def watched(search, block):
        nonlocal largest
        largest = max(largest, len(block.worth))
        return expand(search, block)

    monkeypatch.setattr(enumeration._Search, "_expand", watched)
    monkeypatch.setattr(enumeration, "BLOCK_NUMBERS", 1)
    levels = random_levels(3)
    enumerate_levels(levels, np.zeros(3), 0.0, levels.scale, Clock(), 2e5)
    assert largest <= 512


def test_a_limit_of_nodes_leaves_the_search_unfinished():
    levels = random_levels(4)
    found = enumerate_levels(levels, np.zeros(3), 0.0, levels.scale, Clock(), most_nodes=1000)
    assert not found.finished


def test_negative_weights_fix_the_number_of_options():
    # Of profits 5, 4, 3 exactly two are taken although all three would fit.
    rows = [np.array([[0.0, 0, 0], [1, 1, -1]])] * 3
    levels = Levels(
        [np.array([0.0, p]) for p in (5, 4, 3)],
        rows,
        np.array([3.0, 2, -2]),
        np.array([6.0, 5, 5]),
        12.0,
        1.0,
    )
    found = enumerate_levels(levels, np.zeros(3), 0.0, 1.0, Clock())
    assert found.profit == 9
    assert found.options == [1, 1, 0]


@settings(max_examples=60)
@given(knapsacks())
def test_whole_numbers_stand_for_the_decimals(knapsack):
    relaxation = linear_relaxation(knapsack)
    if relaxation.duals is None:
        return
    whole = integral(knapsack, relaxation.duals)
    assert np.all(whole.profit / whole.scale >= knapsack.profit - 1e-15)
    assert np.allclose(whole.profit / whole.scale, knapsack.profit, rtol=0, atol=1 / whole.scale)
    assert np.allclose(whole.weight / whole.row_scale, knapsack.weight, rtol=1e-15, atol=0)


@pytest.mark.parametrize(
    ("numbers", "unit"),
    [([1, 2], 1), ([0.1, 2], 10), ([600.1, 310.25], 100), ([1 / 3], None), ([], 1)],
)
def test_decimal_unit(numbers, unit):
    assert decimal_unit(np.array(numbers, dtype=float)) == unit


def test_numbers_too_large_for_exact_sums_are_refused():
    from gadgetopt.pieces.knapsack.problem import Knapsack

    huge = Knapsack(np.array([1.0]), np.array([[2.0**52]]), np.array([0]), np.array([2.0**52]))
    with pytest.raises(ModelRefused, match="too large"):
        integral(huge, np.ones(1))


def test_the_compiled_loop_searches_the_same_nodes(monkeypatch):
    instance = paper(np.random.default_rng(0), items=40, rows=8)
    knapsack = scaled(instance).knapsack
    runs = []
    for on in (True, False):
        monkeypatch.setattr(enumeration, "COMPILED", on)
        runs.append(solve_by_cardinality(knapsack))
    assert runs[0].notes == runs[1].notes
    assert runs[0].optimal
    assert np.array_equal(runs[0].chosen, runs[1].chosen)
