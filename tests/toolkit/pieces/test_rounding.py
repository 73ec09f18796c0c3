"""Randomised rounding of packing programs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gadgetopt.pieces.rounding import (
    packing_width,
    round_at_random,
    round_packing,
    shrink_factor,
)

WIDTHS = st.floats(1e-3, 1e6)
DELTAS = st.floats(1e-6, 1)
POINTS = st.lists(st.floats(1, 50), min_size=1, max_size=4)


def packing(B, b):
    return lambda candidates: (candidates @ np.asarray(B).T <= np.asarray(b) + 1e-9).all(axis=1)


def total(candidates):
    return candidates.sum(axis=1).astype(float)


@pytest.mark.parametrize(
    ("rows", "width", "delta", "factor"),
    [
        (4, 10, 1, 0.462726),
        (4, 10, 0.1, 0.335693),
        (4, 100, 1, 0.779485),
        (4, 1, 1, 0.123227),
        (1, 5, 1, 0.530354),
        (1, 5, 0.5, 0.413521),
        (1, 5, 0.1, 0.284676),
    ],
)
def test_hand_checked_factors(rows, width, delta, factor):
    assert shrink_factor(rows, width, delta) == pytest.approx(factor, abs=5e-7)


@given(st.integers(1, 10), st.floats(0.1, 1e6), DELTAS)
def test_the_factor_is_the_papers_formula(rows, width, delta):
    A = 3 * math.log(2 * rows / delta) / width

    assert shrink_factor(rows, width, delta) == pytest.approx(
        1 + A / 2 - math.sqrt(A**2 / 4 + A), abs=1e-10 * (1 + A)
    )


@given(st.integers(1, 10), WIDTHS, WIDTHS, DELTAS, DELTAS)
def test_the_factor_is_in_0_1_and_grows_with_width_and_delta(rows, width, wider, delta, larger):
    assume(width <= wider and delta <= larger)

    assert 0 < shrink_factor(rows, width, delta) <= shrink_factor(rows, wider, delta) < 1
    assert shrink_factor(rows, width, delta) <= shrink_factor(rows, width, larger)


def test_without_limits_nothing_is_shrunk():
    assert shrink_factor(2, math.inf, 0.1) == 1.0


@pytest.mark.parametrize("parameters", [(0, 1.0, 0.5), (1, 0.0, 0.5), (1, 1.0, 0.0), (1, 1.0, 1.1)])
def test_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(ValueError, match=r"rows|width|delta"):
        shrink_factor(*parameters)


def test_width_is_that_of_positive_entries():
    assert packing_width([[2, 0], [1, 4]], [10, 12]) == 3
    assert packing_width([[0, 0]], [10]) == math.inf


@given(POINTS, st.integers(0, 100))
def test_roundings_are_floors_or_ceilings(x, seed):
    roundings = round_at_random(x, 20, np.random.default_rng(seed))

    assert roundings.shape == (20, len(x))
    assert ((roundings == np.floor(x)) | (roundings == np.ceil(x))).all()


def test_roundings_have_the_point_as_their_mean():
    roundings = round_at_random([0.25, 3.5, 7.0], 20_000, np.random.default_rng(0))

    # Standard deviations are at most 0.5 / sqrt(20000) = 0.0035.
    assert roundings.mean(axis=0) == pytest.approx([0.25, 3.5, 7.0], abs=0.015)


@given(POINTS, st.floats(0.01, 0.5), st.integers(0, 100))
def test_every_attempt_is_feasible_at_a_factor_of_a_half(x, shrink, seed):
    B, b = np.ones((1, len(x))), [sum(x)]

    best = round_packing(
        x, packing(B, b), total, np.random.default_rng(seed), shrink=shrink, attempts=30
    )

    assert best.failed == 0
    assert best.x is not None


def test_the_best_feasible_rounding_is_kept():
    # 1.5, 1.5: all four roundings appear in 50 attempts; (2, 2) violates, and cost prefers more.
    best = round_packing(
        [1.5, 1.5],
        packing([[1, 1]], [3]),
        lambda x: -total(x) + 0.1 * x[:, 0],
        np.random.default_rng(0),
        attempts=50,
    )

    assert best.x == (1, 2)
    assert best.cost == pytest.approx(-2.9)
    assert 0 < best.failed < 50


def test_no_feasible_attempt_is_no_point():
    best = round_packing([2.0], packing([[1]], [1]), total, np.random.default_rng(0), attempts=7)

    assert (best.x, best.cost, best.attempts, best.failed) == (None, None, 7, 7)


@pytest.mark.parametrize(("zero", "found"), [("clip", (1,)), ("keep", (0,)), ("reject", None)])
def test_what_becomes_of_a_zero(zero, found):
    best = round_packing(
        [1e-9], packing([[1]], [1]), total, np.random.default_rng(0), attempts=5, zero=zero
    )

    assert best.x == found


def test_the_same_seed_gives_the_same_rounding():
    first, second = (
        round_packing([1.5, 2.5], packing([[1, 1]], [4]), total, np.random.default_rng(3))
        for _ in range(2)
    )

    assert first == second


def test_the_failure_probability_holds_on_a_tight_row():
    # Ten coordinates that fill one row exactly: W_b = 10.5, delta = 1 promises at least a half.
    x = np.full(7, 1.5)
    shrink = shrink_factor(1, packing_width(np.ones((1, 7)), [10.5]), 1.0)

    best = round_packing(
        x,
        packing(np.ones((1, 7)), [10.5]),
        total,
        np.random.default_rng(0),
        shrink=shrink,
        attempts=500,
        zero="keep",
    )

    assert best.failed <= 250


@pytest.mark.parametrize("wrong", [{"shrink": 0.0}, {"shrink": 1.5}, {"attempts": 0}])
def test_wrong_parameters_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        round_packing([1.5], packing([[1]], [2]), total, np.random.default_rng(0), **wrong)
