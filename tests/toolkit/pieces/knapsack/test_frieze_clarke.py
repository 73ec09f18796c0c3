"""Frieze and Clarke's algorithm: its ratio, hand-checked cases, and pruning."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.knapsack.frieze_clarke import _Search, frieze_clarke, num_sets
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from .small_knapsacks import (
    FIVE_ITEMS,
    KHAN_1,
    PETERSEN_1,
    WEING_1,
    best_value,
    fits,
    knapsacks,
)


@pytest.mark.parametrize("enumeration", ["pruned", "literal"])
@pytest.mark.parametrize(
    ("knapsack", "values"),
    [
        (FIVE_ITEMS, [11, 24, 27]),
        (PETERSEN_1, [3200, 3200, 3200, 3800]),
        (WEING_1, [139508, 139508, 139508]),
    ],
    ids=["five", "petersen", "weing"],
)
def test_values_of_the_algorithm_by_k(knapsack, values, enumeration):
    # WEING1 with k = 0 and 1 has no set of two: k <= 2 gives 139508 throughout.
    found = [frieze_clarke(knapsack, k, enumeration=enumeration) for k in range(len(values))]
    assert [result.value for result in found] == values
    assert all(fits(knapsack, result.chosen) for result in found)


def test_rounded_programs_of_single_items():
    # LP({1}) = (1, .7368, .7105, 0, 0) -> 14; {2} -> 24; {3} -> 16; {4} -> 5; {5} -> 14.
    values = {}
    for i in range(5):
        order = np.argsort(-FIVE_ITEMS.profit, kind="stable")
        search = _Search(FIVE_ITEMS, order, False)
        search._solve(np.flatnonzero(order == i), Clock())
        values[i + 1] = search.value
    assert values == {1: 14, 2: 24, 3: 16, 4: 5, 5: 14}


@settings(max_examples=60)
@given(knapsacks(single=True, exactly_one=False))
def test_the_guarantee_holds(knapsack):
    best, rows = best_value(knapsack), len(knapsack.capacity)
    for k in (1, 2):
        result = frieze_clarke(knapsack, k)
        assert fits(knapsack, result.chosen)
        assert k / (k + rows) * best - 1e-9 <= result.value <= best + 1e-9 <= result.bound + 2e-9
    assert frieze_clarke(knapsack, knapsack.num_items).value == pytest.approx(best, abs=1e-9)


@settings(max_examples=40)
@given(knapsacks(single=True, exactly_one=False))
def test_pruned_and_literal_agree_and_completion_never_hurts(knapsack):
    # Where vertices are not unique either may round another one; both keep the guarantee.
    if len(np.unique(knapsack.profit)) < knapsack.num_items:
        return
    literal = frieze_clarke(knapsack, 2, enumeration="literal")
    pruned = frieze_clarke(knapsack, 2)
    assert pruned.notes["linear_programs"] <= literal.notes["linear_programs"]
    complete = frieze_clarke(knapsack, 2, complete=True)
    assert fits(knapsack, complete.chosen)
    assert complete.value <= best_value(knapsack) + 1e-9


def test_pruned_equals_literal_where_vertices_are_unique():
    rng = np.random.default_rng(3)
    for _ in range(5):
        weight = rng.uniform(1, 10, (14, 3))
        profit = rng.uniform(1, 10, 14)
        knapsack = Knapsack(profit, weight, np.arange(14), weight.sum(axis=0) / 3)
        literal = frieze_clarke(knapsack, 2, enumeration="literal")
        pruned = frieze_clarke(knapsack, 2)
        assert pruned.value == pytest.approx(literal.value)
        assert pruned.chosen.tolist() == literal.chosen.tolist()
        assert pruned.notes["linear_programs"] < literal.notes["linear_programs"] / 2


def test_bounds_of_sets_are_above_their_programs():
    rng = np.random.default_rng(4)
    weight = rng.uniform(1, 10, (8, 2))
    profit = np.sort(rng.integers(1, 6, 8).astype(float))[::-1]
    items = np.arange(8)
    search = _Search(Knapsack(profit, weight, items, weight.sum(axis=0) / 2), items, False)
    for size in (0, 1, 2):
        for members in combinations(range(8), size):
            sets = np.array([members], dtype=np.int64).reshape(1, size)
            if np.any(weight[list(members)].sum(axis=0) > search.capacity):
                continue
            search._solve(sets[0], Clock())
            for duals in (np.zeros(2), np.full(2, 0.3)):
                assert search._bounds(sets, duals)[0] >= search.lp.objective - 1e-9


def test_too_many_sets_are_refused_with_their_number():
    items = Knapsack(np.ones(50), np.ones((50, 4)), np.arange(50), np.full(4, 10.0))
    assert num_sets(50, 3) == 20876
    assert num_sets(50, 396) == 2**50
    with pytest.raises(ModelRefused, match=r"1\.13e\+15 sets"):
        frieze_clarke(items, 396)


def test_groups_are_refused():
    with pytest.raises(ModelRefused, match="single items"):
        frieze_clarke(KHAN_1, 1)


def test_out_of_time_keeps_the_best_so_far():
    result = frieze_clarke(WEING_1, 2, enumeration="literal", limits=Limits(time_s=0.05))
    assert result.limit_hit == "time_s"
    assert fits(WEING_1, result.chosen)
