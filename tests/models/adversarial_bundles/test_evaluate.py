"""What the evaluator makes of sellers: by hand, against brute force, perturbed."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.adversarial_bundles.evaluate import (
    evaluate,
    num_probabilities,
    on_path,
    optima,
    worst_case,
)
from gadgetopt.models.adversarial_bundles.features import features
from gadgetopt.models.adversarial_bundles.instance import AdversarialBundlesSolution
from gadgetopt.models.adversarial_bundles.subproblems.sellers import by_stock, mixed, written_out

from .brute_force import PARTS, game, histories, offline, random_game

SEEDS = st.integers(0, 2**32 - 1)


def draw_seller(instance, rng):
    """A seller with random chances in sixths."""
    J = len(instance.types)
    parts = [
        rng.integers(0, 7, size=(J**t, J, len(of_round)))
        for t, of_round in enumerate(instance.stocks.of_round[:-1])
    ]
    return parts, written_out(instance, parts, 6)


def expected_welfare(instance, parts, sequence):
    """What the chances earn, by all courses of the draws, units held counted one by one."""

    def on(t, sold, chance):
        if t == len(sequence) or not chance:
            return Fraction(0)
        kind = instance.types[sequence[t]]
        held = tuple(
            tuple(
                sum(
                    instance.types[sequence[i]].demand[r]
                    for i in sold
                    if (d := instance.types[sequence[i]].duration) is None or later < i + d
                )
                for r in range(len(instance.capacity))
            )
            for later in range(t, instance.horizon)
        )
        s = instance.stocks.of_round[t].index(held)
        n = 0
        for j in sequence[:t]:
            n = n * len(instance.types) + j
        room = all(
            h + d <= c for h, d, c in zip(held[0], kind.demand, instance.capacity, strict=True)
        )
        p = Fraction(int(parts[t][n, sequence[t], s]), 6) if room else Fraction(0)
        sale = chance * p * kind.value + on(t + 1, (*sold, t), chance * p)
        return sale + on(t + 1, sold, chance * (1 - p))

    return on(0, (), Fraction(1))


@settings(max_examples=40)
@given(SEEDS)
def test_the_worst_case_is_that_of_all_courses_of_the_draws(seed):
    rng = np.random.default_rng(seed)
    instance = random_game(rng)
    parts, seller = draw_seller(instance, rng)
    pairs = [
        (offline(instance, h), expected_welfare(instance, parts, h)) for h in histories(instance)
    ]
    found = evaluate(instance, seller)
    if any(not earned for _, earned in pairs):
        assert [v.constraint for v in found.violations] == ["finite_ratio"]
    else:
        assert found.objective == max(best / earned for best, earned in pairs)
        worst = worst_case(instance, seller)
        assert worst.offline_welfare == offline(instance, worst.sequence)
        assert worst.welfare == expected_welfare(instance, parts, worst.sequence)
        assert on_path(instance, seller, worst.sequence)[-1] == worst


@settings(max_examples=40)
@given(SEEDS)
def test_offline_optima_are_those_of_all_subsets(seed):
    instance = random_game(np.random.default_rng(seed))
    found, money = optima(instance)
    best = [Fraction(int(x), money) for of_length in found for x in of_length]
    assert best == [offline(instance, h) for h in histories(instance)]


@given(SEEDS)
def test_a_perturbed_seller_is_rejected(seed):
    rng = np.random.default_rng(seed)
    instance = random_game(rng)
    # Greedy sells whatever fits, so that no sale can become more probable.
    sales = list(by_stock(instance, lambda _stock, _j: True).sale_probability)
    i = int(rng.choice([i for i, x in enumerate(sales) if x < 1] or [-1]))
    if i >= 0:
        sales[i] += Fraction(1, 1000)
        more = evaluate(instance, AdversarialBundlesSolution(sale_probability=tuple(sales)))
        assert {v.constraint for v in more.violations} <= {"capacity", "chance"}
        assert Fraction(1, 1000) in [v.amount for v in more.violations]
        assert more.objective is None
    fewer = AdversarialBundlesSolution(sale_probability=tuple(sales[:-1]))
    constraints = [v.constraint for v in evaluate(instance, fewer).violations]
    assert constraints == ["one_probability_a_stock"]


def test_sales_that_cannot_be_are_named():
    # Stocks of the second round: nothing, a unit of 1, of 0, of both.
    instance = game((1, 1), PARTS, 2)
    assert len(instance.stocks.of_round[1]) == 4
    none = [Fraction(0)] * num_probabilities(instance)
    twice = none.copy()
    twice[0] = Fraction(1)  # the first request, of type 0, is sold to
    place = 3 + 4 * (0 * 3 + 0) + instance.stocks.of_round[1].index(((1, 0),))
    twice[place] = Fraction(1, 2)  # and so is the second, which does not fit any more
    found = evaluate(instance, AdversarialBundlesSolution(sale_probability=tuple(twice)))
    assert [(v.constraint, v.amount) for v in found.violations] == [("capacity", Fraction(1, 2))]
    unheld = none.copy()
    unheld[3] = Fraction(1, 3)
    unheld[3 + 1] = Fraction(1, 4)  # nothing was sold, so this stock is not held
    found = evaluate(instance, AdversarialBundlesSolution(sale_probability=tuple(unheld)))
    assert [(v.constraint, v.amount) for v in found.violations] == [("chance", Fraction(1, 4))]


@given(SEEDS)
def test_a_drawn_seller_earns_the_mean(seed):
    rng = np.random.default_rng(seed)
    instance = random_game(rng)
    (_, one), (_, two) = draw_seller(instance, rng), draw_seller(instance, rng)
    both = mixed([one, two], [Fraction(1, 3), Fraction(2, 3)])
    sequence = histories(instance)[int(rng.integers(len(histories(instance))))]
    earned = [on_path(instance, seller, sequence)[-1].welfare for seller in (one, two, both)]
    assert earned[2] == (earned[0] + 2 * earned[1]) / 3


def test_requests_are_never_sold_more_than_there_is():
    instance = game((2, 2), PARTS, 4)
    greedy = by_stock(instance, lambda _stock, _j: True)
    assert evaluate(instance, greedy).feasible


@pytest.mark.parametrize("types", [1, 3])
def test_games_of_too_many_histories_are_refused_at_once(types):
    instance = game((1, 1), PARTS[:types], 10**9)
    with pytest.raises(ModelRefused, match=r"histories|stocks"):
        num_probabilities(instance)


def test_features_by_hand():
    instance = game((2, 1), [(1, (1, 0)), (6, (2, 1), 1), (2, (1, 0))], 2)
    assert features(instance) == {
        "spread": 4.0,  # 6/(3 units, 1 round) over 1/(1 unit, 2 rounds)
        "largest_share": 1.0,
        "kept_for_good": 2 / 3,
        "posted_prices": 2.0,
    }
