"""Regret minimisation closes in on the game's value from both sides, the same way every time."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.adversarial_bundles.heuristics import cfr

from .brute_force import EXAMPLE_6, PARTS, game, random_game, run

UNITS = [(1, (1,)), (2, (1,)), (4, (1,))]


@pytest.mark.parametrize(
    ("capacity", "types", "horizon", "value"),
    [
        ((1, 1), PARTS, 2, "7/4"),
        ((1, 1), PARTS, 4, "7/4"),
        ((2, 2), EXAMPLE_6, 3, "7/4"),
        ((2, 2), EXAMPLE_6, 4, "7/4"),
        ((1,), UNITS, 3, "2"),
        ((2,), UNITS, 5, "15/8"),
    ],
    ids=["parts 2", "parts 4", "example 6, 3", "example 6, 4", "unit", "two units"],
)
def test_the_means_close_in_on_the_values_of_the_notes(capacity, types, horizon, value):
    instance = game(capacity, types, horizon)
    widths = []
    for iterations in (30, 1000):
        found = run(instance, f"cfr:iterations={iterations}")
        assert found.bound_voucher == "verified"
        assert found.bound <= Fraction(value) <= found.objective
        widths.append(found.objective - found.bound)
    assert widths[1] < widths[0]
    assert widths[1] <= Fraction(value) / 200


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_certified_ratio_is_never_below_the_value(seed):
    instance = random_game(np.random.default_rng(seed))
    value = run(instance).bound  # proved by a lottery of sequences, and reached to 1e-9
    found = run(instance, "cfr:iterations=200")
    assert found.objective is None or found.objective >= value
    assert found.bound is None or found.bound <= value * (1 + Fraction(1, 10**8))


def test_the_same_game_has_the_same_seller():
    instance = game((2, 2), EXAMPLE_6, 3)
    one, two = (run(instance, "cfr:iterations=50") for _ in range(2))
    assert one.solution == two.solution
    assert one.certificate == two.certificate


def test_regrets_by_hand():
    # One round, values 1 and 4: against equal chances of both, a sale is worth all of OPT and
    # keeping nothing, so selling has the regret 1/2 (its chance) times 1/2 (of 1 - 1/2).
    play = cfr._Play(game((1,), [(1, (1,)), (4, (1,))], 1))
    play.iterate(1)
    sells, keeps = play.of_seller[0]
    assert sells.ravel() == pytest.approx([0.25, 0.25])
    assert not keeps.any()
    # The seller, who now sells, keeps all of OPT whatever comes: the adversary, who may choose a
    # type first and has to end after it, regrets nothing.
    first, second = play.adversary.of_length
    assert not first[:, :2].any()
    assert not second[:, 2].any()


def test_too_many_histories_are_refused():
    found = run(game((2, 2), EXAMPLE_6, 40), "cfr")
    assert found.refused
    assert "histories" in found.reason


def test_a_time_limit_ends_between_two_iterations():
    found = run(game((2, 2), EXAMPLE_6, 4), "cfr:iterations=1000000", time_s=0.3)
    assert found.limit_hit == "time_s"
    assert found.objective >= Fraction(7, 4)
