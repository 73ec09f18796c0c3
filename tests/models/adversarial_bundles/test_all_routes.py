"""Every exact route has the same value, bounds do not pass it, and hand numbers come out."""

from fractions import Fraction

import numpy as np
import pytest

from .brute_force import EXAMPLE_6, GAMES, PARTS, game, normal_form, random_game, run

EXACT = ("minimax", "sequence_form@highs", "adversary_program")


@pytest.mark.parametrize("horizon", [2, 3, 4])
@pytest.mark.parametrize(
    ("capacity", "types", "divisible"),
    [((1, 1), PARTS, ["7/4"] * 3), ((2, 2), EXAMPLE_6, ["5/4", "3/2", "5/3"])],
    ids=["parts", "example 6"],
)
def test_the_numbers_of_the_notes(capacity, types, divisible, horizon):
    # Selling the first part with chance p keeps p, and (p + 4 (1 - p))/4 if the bundle follows:
    # both are 4/7 at p = 4/7. Whoever draws nothing keeps 1/4.
    instance = game(capacity, types, horizon)
    for method in EXACT:
        found = run(instance, method)
        assert found.bound == Fraction(7, 4)
        assert found.bound_voucher == "verified"
    assert run(instance).objective == Fraction(7, 4)
    assert run(instance, "posted_sequence_form@highs").objective == Fraction(7, 4)
    relaxed = run(instance, "divisible@highs")
    assert relaxed.bound == Fraction(divisible[horizon - 2])
    assert run(instance, "deterministic").objective == 4


def test_units_of_one_resource_as_in_the_other_problem():
    instance = game((1,), [(1, (1,)), (2, (1,)), (4, (1,))], 3)
    assert run(instance).objective == run(instance, "divisible@highs").bound == 2
    assert run(instance, "drawn_price").objective == 2
    assert run(instance, "deterministic").objective == 4


def test_longer_games_of_example_6_are_harder():
    # Not in the notes: with five requests the game is worse for the seller than with four.
    instance = game((2, 2), EXAMPLE_6, 5)
    for method in EXACT:
        assert run(instance, method).bound == Fraction(11, 6)
    assert run(instance).objective == Fraction(11, 6)


def test_units_that_come_back_before_the_next_request_make_no_game():
    assert run(game((1,), [(1, (1,), 1), (5, (1,), 1)], 3)).objective == 1


def test_a_sale_of_two_rounds_by_hand():
    # p of the request of 1, (p + 3 (1 - p))/3 if that of 3 comes in its second round: p = 3/5.
    instance = game((1,), [(1, (1,), 2), (3, (1,), 1)], 2)
    assert run(instance).objective == Fraction(5, 3)
    # In the third round the unit is back: 1, 3 with a request between them is no harder.
    assert run(game((1,), [(1, (1,), 2), (3, (1,), 1)], 3)).objective == Fraction(5, 3)


@pytest.mark.parametrize("seed", range(GAMES))
def test_all_routes_agree_with_each_other_and_bounds_are_below(seed):
    instance = random_game(np.random.default_rng(seed), most=4)
    best = run(instance)
    assert best.status == "optimal"
    assert best.bound_voucher == "verified"
    value = float(best.objective)
    for method in EXACT[1:]:
        assert float(run(instance, method).bound) == pytest.approx(value, rel=1e-9)
    assert float(run(instance, "divisible@highs").bound) <= value * (1 + 1e-9)
    posted = run(instance, "posted_sequence_form@highs").objective
    alone = run(instance, "deterministic").objective
    assert posted >= value * (1 - 1e-9)
    for method in ("greedy", "exponential", "fixed_prices", "drawn_price", "deterministic"):
        found = run(instance, method).objective
        assert found is None or found >= value * (1 - 1e-9)
        if method in ("greedy", "exponential", "fixed_prices"):
            assert found is None or found >= alone


@pytest.mark.parametrize("seed", range(GAMES))
def test_the_game_in_normal_form_has_the_same_values(seed):
    instance = random_game(np.random.default_rng(1000 + seed), most=2)
    lottery, alone = normal_form(instance)
    assert float(run(instance).objective) == pytest.approx(lottery, rel=1e-7)
    assert run(instance, "deterministic").objective == alone


def test_a_bundle_and_its_parts_in_normal_form():
    lottery, alone = normal_form(game((1, 1), PARTS, 2))
    assert lottery == pytest.approx(1.75, rel=1e-9)
    assert alone == 4
