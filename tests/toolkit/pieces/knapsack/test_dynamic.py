"""The dynamic program for weights that are multiples of one vector, against brute force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.knapsack.core import cg_core
from gadgetopt.pieces.knapsack.dynamic import collinear, solve_collinear
from gadgetopt.pieces.knapsack.problem import Knapsack

from .small_knapsacks import FIVE_ITEMS, best_value, fits, knapsacks

DIRECTION = np.array([36.0, 60, 8, 40])


@settings(max_examples=80)
@given(knapsacks(), st.lists(st.integers(0, 6), min_size=15, max_size=15))
def test_the_dynamic_program_finds_what_brute_force_finds(knapsack, theta):
    multiples = np.array(theta[: knapsack.num_items], float)
    direction = np.array([0.3, 2, 5])[: len(knapsack.capacity)]
    one_row = replace(knapsack, weight=np.round(np.outer(multiples, direction), 6))
    if not one_row.weight.any():
        assert collinear(one_row) is None
        return
    best, result = best_value(one_row), solve_collinear(one_row)
    if best == -np.inf:
        assert result.infeasible
    else:
        assert result.optimal
        assert result.value == pytest.approx(best, abs=1e-9)
        assert fits(one_row, result.chosen)


def test_the_dynamic_program_equals_the_core_on_virtual_machines():
    rng = np.random.default_rng(0)
    theta = rng.integers(1, 21, 400)
    weight = np.outer(theta, DIRECTION)
    profit = rng.uniform(1, 100, 400)
    knapsack = Knapsack(profit, weight, np.arange(400), 0.25 * weight.sum(axis=0))
    row = collinear(knapsack)
    assert row.direction.tolist() == DIRECTION.tolist()
    assert row.theta.tolist() == theta.tolist()
    result = solve_collinear(knapsack)
    assert result.optimal
    assert result.value == pytest.approx(cg_core(knapsack).value)


def test_common_factors_go_into_the_direction():
    knapsack = Knapsack(
        np.ones(2), np.array([[0.4, 1.2], [0.8, 2.4]]), np.arange(2), np.array([1.3, 9.0])
    )
    row = collinear(knapsack)
    assert row.direction.tolist() == [0.4, 1.2]
    assert row.theta.tolist() == [1, 2]
    assert row.capacity == 3


def test_others_are_refused():
    assert collinear(FIVE_ITEMS) is None
    with pytest.raises(ModelRefused, match="multiples of one vector"):
        solve_collinear(FIVE_ITEMS)


def test_a_table_too_large_is_refused():
    theta = np.arange(10**6, 10**6 + 3000, dtype=float)
    knapsack = Knapsack(np.ones(3000), theta[:, None], np.arange(3000), np.array([1e9]))
    with pytest.raises(ModelRefused, match="decisions"):
        solve_collinear(knapsack)


def test_a_negative_capacity_admits_nothing():
    one = Knapsack(np.ones(1), np.ones((1, 1)), np.arange(1), np.array([-1.0]))
    assert solve_collinear(one).infeasible
