"""The linear relaxation and the Lagrangian bound, against scipy and exact arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.knapsack.direct import standard_form
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import lagrangian_bound, linear_relaxation, usable_items

from .small_knapsacks import FIVE_ITEMS, KHAN_1, PETERSEN_1, best_value, knapsacks


def full_program(knapsack):
    """Return the optimum of the linear program over all items that fit alone, by scipy."""
    usable = np.flatnonzero(usable_items(knapsack))
    form = standard_form(knapsack)
    equal = np.isfinite(form.row_lower)
    outside = np.setdiff1d(np.arange(knapsack.num_items), usable)
    upper = np.ones(knapsack.num_items)
    upper[outside] = 0.0
    A = form.A.toarray()
    solved = linprog(
        -form.c,
        A_ub=A[~equal],
        b_ub=form.row_upper[~equal],
        A_eq=A[equal] if equal.any() else None,
        b_eq=form.row_upper[equal] if equal.any() else None,
        bounds=np.column_stack([np.zeros(knapsack.num_items), upper]),
    )
    return -solved.fun if solved.status == 0 else None


@settings(max_examples=60)
@given(knapsacks())
def test_column_generation_solves_the_full_program(knapsack):
    relaxation, full = linear_relaxation(knapsack), full_program(knapsack)
    if full is None:
        assert relaxation.infeasible
    else:
        assert relaxation.value == pytest.approx(full, abs=1e-7)
        assert relaxation.bound == pytest.approx(full, abs=1e-7)
        assert relaxation.bound >= best_value(knapsack)


@settings(max_examples=60)
@given(knapsacks())
def test_a_vertex_has_no_more_fractional_groups_than_rows(knapsack):
    y = linear_relaxation(knapsack).y
    fractional = (y > 1e-7) & (y < 1 - 1e-7)
    assert len(np.unique(knapsack.owner[fractional])) <= len(knapsack.capacity)


def exact_lagrangian_bound(knapsack, prices):
    """The bound in rationals, every number read as the decimal it is."""
    exact = decimal_rational
    best = {}
    rows = zip(knapsack.owner.tolist(), knapsack.profit.tolist(), knapsack.weight, strict=True)
    for group, profit, weight in rows:
        paid = sum(y * exact(float(a)) for y, a in zip(prices, weight, strict=True))
        worth = exact(profit) - paid
        best[group] = max(worth, best.get(group, worth if knapsack.exactly_one else 0))
    cluster = sum(y * exact(float(c)) for y, c in zip(prices, knapsack.capacity, strict=True))
    return cluster + sum(best.values())


@settings(max_examples=100)
@given(knapsacks(), st.lists(st.floats(0, 5), min_size=3, max_size=3))
def test_any_prices_bound_and_the_exact_bound_is_below_the_rounded_one(knapsack, prices):
    duals = np.array(prices[: len(knapsack.capacity)])
    rounded = lagrangian_bound(knapsack, duals)
    exact = exact_lagrangian_bound(knapsack, [Fraction(price) for price in duals.tolist()])
    assert best_value(knapsack) <= rounded
    assert float(exact) == pytest.approx(rounded, abs=1e-9)
    # The doubles' own values: the decimals they stand for differ by less than a rounding.
    assert exact <= Fraction(rounded) + Fraction(1, 10**12)


def test_relaxations_of_the_hand_checked():
    assert linear_relaxation(FIVE_ITEMS).value == pytest.approx(31.41176, abs=1e-5)
    assert linear_relaxation(PETERSEN_1).value == pytest.approx(4134.074, abs=1e-3)
    assert linear_relaxation(KHAN_1).value == pytest.approx(182.71, abs=5e-3)


def test_few_columns_of_many_are_generated():
    rng = np.random.default_rng(0)
    groups, items = 200, 100
    weight = rng.integers(1, 50, (groups * items, 3)).astype(float)
    profit = np.sqrt(weight.sum(axis=1)) * rng.uniform(1, 2, groups * items)
    owner = np.repeat(np.arange(groups), items)
    knapsack = Knapsack(profit, weight, owner, np.full(3, 1500.0))
    relaxation = linear_relaxation(knapsack)
    assert relaxation.columns <= 6 * groups
    assert relaxation.bound <= relaxation.value * (1 + 1e-9)


def test_a_group_without_items_cannot_have_one():
    gap = Knapsack(np.array([3.0]), np.array([[1.0]]), np.array([1]), np.array([2.0]), True)
    assert linear_relaxation(gap).infeasible
    assert lagrangian_bound(gap, [0.0]) == -math.inf
    assert lagrangian_bound(replace(gap, exactly_one=False), [0.0]) == pytest.approx(3)
