"""Rounding of mixed packing and covering programs: factors, promises, measurements."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gadgetopt.pieces.bicriteria import (
    MixedProgram,
    lemma,
    measure,
    report,
)
from gadgetopt.pieces.rounding import (
    choose_at_random,
    covering_factor,
    covering_width,
    packing_factor,
    round_mixed,
    shrink_factor,
)

ROWS = st.integers(1, 500)
WIDTHS = st.floats(1e-2, 1e6)
DELTAS = st.floats(1e-6, 1)
TAILS = st.sampled_from(["printed", "corrected", "chernoff"])


def half_full(columns):
    """Columns at a half that fill one row of either side; both widths are columns / 2."""
    ones, side = np.ones((1, columns)), np.array([columns / 2])
    return MixedProgram(ones[0], ones, side, ones, side), np.full(columns, 0.5)


# -- factors ---------------------------------------------------------------------------------------


@given(ROWS, WIDTHS, DELTAS)
def test_packing_factor_printed_is_the_papers_formula(rows, width, delta):
    half = 3 * math.log(3 * rows / delta) / (2 * width)

    assert packing_factor(rows, width, delta, tail="printed") == pytest.approx(
        1 + half - math.sqrt(half**2 + 2 * half), abs=1e-9 * (1 + half)
    )


@given(ROWS, WIDTHS, DELTAS)
def test_covering_factor_is_the_papers_formula(rows, width, delta):
    share = math.log(3 * rows / delta) / width

    assert covering_factor(rows, width, delta) == pytest.approx(
        1 + share + math.sqrt(share**2 + 2 * share)
    )


@given(ROWS, st.floats(1.001, 5.99), DELTAS)
def test_corrected_factor_satisfies_its_own_tail(rows, logarithms, delta):
    ell = math.log(3 * rows / delta)
    width = logarithms * ell
    G = packing_factor(rows, width, delta)

    assert 0 < G < 0.5
    assert (1 - G) ** 2 * width / (1 + G) == pytest.approx(ell, rel=1e-6)


@given(ROWS, st.floats(0.1, 1e5), DELTAS)
def test_chernoff_factors_are_the_two_roots(rows, width, delta):
    share = math.log(3 * rows / delta) / width
    below = packing_factor(rows, width, delta, tail="chernoff")
    above = covering_factor(rows, width, delta, tail="chernoff")

    assert above - 1 - math.log(above) == pytest.approx(share, rel=1e-4)
    if below > 0:
        assert below - 1 - math.log(below) == pytest.approx(share, rel=1e-4)


@given(ROWS, WIDTHS, DELTAS)
def test_what_is_proved_by_a_sharper_tail_is_nearer_to_1(rows, width, delta):
    packing = {t: packing_factor(rows, width, delta, tail=t) for t in ("corrected", "chernoff")}
    covering = {t: covering_factor(rows, width, delta, tail=t) for t in ("printed", "chernoff")}

    assert 0 <= packing["corrected"] <= packing["chernoff"] + 1e-12 <= 1 + 1e-12
    assert 1 - 1e-12 <= covering["chernoff"] <= covering["printed"] + 1e-12


@given(ROWS, WIDTHS, WIDTHS, DELTAS, DELTAS, TAILS)
def test_factors_are_monotone_in_width_and_delta(rows, width, wider, delta, larger, tail):
    assume(width <= wider and delta <= larger)

    for factor, sign in ((packing_factor, 1), (covering_factor, -1)):
        here = sign * factor(rows, width, delta, tail=tail)
        assert here <= sign * factor(rows, wider, delta, tail=tail) + 1e-9
        assert here <= sign * factor(rows, width, larger, tail=tail) + 1e-9


def test_a_width_below_the_logarithm_has_no_corrected_factor():
    # l = ln(3 * 401 / 0.5) = 7.79; a machine that holds 7 workers promises nothing.
    assert packing_factor(401, 7.0, 0.5) == 0
    assert packing_factor(401, 8.0, 0.5) > 0
    # The printed formula is proved from 6 l = 46.7 on.
    assert packing_factor(401, 46.6, 0.5) < packing_factor(401, 46.6, 0.5, tail="printed")
    assert packing_factor(401, 46.8, 0.5) == packing_factor(401, 46.8, 0.5, tail="printed")


def test_two_bad_events_give_the_shrink_factor():
    assert packing_factor(4, 10, 0.1, events=2, tail="printed") == shrink_factor(4, 10, 0.1)
    assert covering_width([[2, 0], [1, 4]], [10, 12]) == 3


# -- choosing --------------------------------------------------------------------------------------


def test_choices_have_their_weights_as_frequencies():
    chosen = choose_at_random([[0.5, 0.25], [], [1.0], [0.3]], 20_000, np.random.default_rng(0))

    frequencies = [[float((chosen[:, g] == k).mean()) for k in (-1, 0, 1)] for g in range(4)]
    # Standard deviations are at most 0.0035.
    assert frequencies[0] == pytest.approx([0.25, 0.5, 0.25], abs=0.015)
    assert frequencies[1] == [1, 0, 0]
    assert frequencies[2] == [0, 1, 0]
    assert frequencies[3] == pytest.approx([0.7, 0.3, 0], abs=0.015)


def test_weights_whose_sum_is_1_up_to_rounding_are_taken():
    chosen = choose_at_random([[0.5, 0.5 + 1e-9]], 1000, np.random.default_rng(0))

    assert (chosen >= 0).all()


@pytest.mark.parametrize("weights", [[0.7, 0.5], [-0.1, 0.5]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(ValueError, match=r"weights\[0\]"):
        choose_at_random([weights], 1, np.random.default_rng(0))


# -- rounding --------------------------------------------------------------------------------------


def test_first_is_the_first_feasible_attempt_and_best_the_cheapest():
    feasible = lambda x: x.sum(axis=1) >= 1  # noqa: E731
    cost = lambda x: x @ np.array([1.0, 2.0, 3.0])  # noqa: E731
    x = [0.5, 0.5, 0.5]

    first = round_mixed(x, feasible, cost, np.random.default_rng(1), keep="first")
    best = round_mixed(x, feasible, cost, np.random.default_rng(1), keep="best")

    assert best.x == (1, 0, 0)
    assert first.cost >= best.cost
    assert first.failed == best.failed


def test_scaling_up_covers_more_often():
    feasible = lambda x: x.sum(axis=1) >= 10  # noqa: E731
    cost = lambda x: x.sum(axis=1).astype(float)  # noqa: E731

    failed = [
        round_mixed(
            np.full(20, 0.5), feasible, cost, np.random.default_rng(0), factor=G, attempts=500
        ).failed
        for G in (0.8, 1.0, 1.4)
    ]

    assert failed == sorted(failed, reverse=True)


# -- both sides at once ----------------------------------------------------------------------------


def test_measured_probabilities_are_those_of_enumeration():
    # Three variables at 1/2: cover with at least 2 of 3, and not both of the last two.
    program = MixedProgram(
        np.array([1.0, 2.0, 3.0]),
        np.array([[1.0, 1.0, 1.0]]),
        np.array([2.0]),
        np.array([[0.0, 1.0, 1.0]]),
        np.array([1.0]),
    )
    outcomes = list(product((0, 1), repeat=3))
    covers = np.mean([sum(o) >= 2 for o in outcomes])
    packs = np.mean([o[1] + o[2] <= 1 for o in outcomes])
    both = np.mean([sum(o) >= 2 and o[1] + o[2] <= 1 for o in outcomes])

    measured = measure(program, [0.5] * 3, np.random.default_rng(0), attempts=20_000)

    assert (measured.covers, measured.packs, measured.both) == pytest.approx(
        (covers, packs, both), abs=0.015
    )
    assert measured.cost_ratio == pytest.approx(1, abs=0.02)
    # Both hold for (1, 1, 0) and (1, 0, 1): costs 3 and 4 over 3.
    assert measured.feasible_cost_ratio == pytest.approx(3.5 / 3, abs=0.02)
    assert (measured.least_coverage, measured.largest_overload) == (0, 2)


def test_candidates_drawn_otherwise_are_judged_the_same():
    program, x = half_full(40)
    candidates = np.stack([np.ones(40, dtype=int), np.zeros(40, dtype=int)])

    judged = report(program, x, candidates)

    assert (judged.covers, judged.packs, judged.both) == (0.5, 0.5, 0.0)
    assert judged.cost_ratio == 1
    assert judged.feasible_cost_ratio is None


@pytest.mark.parametrize("tail", ["corrected", "chernoff"])
@pytest.mark.parametrize("delta", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("columns", [4, 40, 400])
def test_the_lemma_holds_in_both_regimes(columns, delta, tail):
    program, x = half_full(columns)
    for regime in ("packing", "covering"):
        promise = lemma(program, regime, delta, tail=tail)
        if promise is None:
            continue
        found = measure(program, x, np.random.default_rng(0), factor=promise.factor, attempts=2_000)
        # The part of attempts that break a promise; three standard deviations are 0.034.
        assert 1 - (found.packs if regime == "packing" else found.covers) <= delta / 3 + 0.034
        assert found.cost_ratio <= promise.cost_ratio
        if regime == "packing":
            assert found.coverage >= promise.coverage * (1 - delta / 3)
        else:
            assert found.overload <= promise.overload


def test_neither_regime_promises_a_feasible_point():
    program, _ = half_full(40)

    packing, covering = (lemma(program, regime, 0.5) for regime in ("packing", "covering"))

    assert packing.coverage < 1
    assert covering.overload > 1


def test_where_the_width_is_too_small_there_is_no_promise():
    program, _ = half_full(2)

    assert program.packing_width == 1
    assert lemma(program, "packing", 0.1) is None
    assert lemma(program, "packing", 0.1, tail="printed") is not None


@pytest.mark.parametrize("wrong", [{"factor": 0.0}, {"attempts": 0}])
def test_wrong_parameters_of_a_measurement_are_refused_by_name(wrong):
    program, x = half_full(40)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        measure(program, x, np.random.default_rng(0), **wrong)
