"""Intervals of worst cases have the exact ratio in them, and meet where everything is followed."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.adversarial_bundles.algorithms.learned import SHIPPED, network
from gadgetopt.models.adversarial_bundles.data.generate.presets import quickstart
from gadgetopt.models.adversarial_bundles.proving.bounds.interval import (
    SummarySeller,
    worst_interval,
)
from gadgetopt.models.adversarial_bundles.subproblems.networks import PARTS as PARTS_OF_A_CHANCE
from gadgetopt.models.adversarial_bundles.subproblems.networks import Sight, chances_of_summaries
from gadgetopt.models.adversarial_bundles.subproblems.sellers import worst_of_chances
from gadgetopt.models.adversarial_bundles.subproblems.summaries import Summaries
from gadgetopt.system.training import read_policy

from ..brute_force import PARTS, game, histories, offline, random_game

SEEDS = st.integers(0, 2**32 - 1)


def draw(instance, summaries, rng, *, rules=1, whole=6):
    """A seller with random chances of every round, summary and stock."""
    parts = [
        rng.integers(0, whole + 1, size=(len(optimum), len(instance.types), rules * len(stocks)))
        for optimum, stocks in zip(summaries.optimum, instance.stocks.of_round[:-1], strict=False)
    ]
    return SummarySeller(parts, whole, tuple(rng.integers(1, 4, size=rules).tolist()))


def always(instance, chance):
    """A seller with one chance of a sale of whatever fits."""
    types = len(instance.types)
    parts = [np.full((1, types, len(s)), chance) for s in instance.stocks.of_round[:-1]]
    return SummarySeller(parts, 1)


def numbers(instance, summaries):
    """The summary of every history, by length, from the empty one."""
    found = [np.zeros(1, dtype=int)]
    for after in summaries.after:
        found.append(after[found[-1]].ravel())
    return found


def exact(instance, summaries, seller):
    """The worst ratio over all histories, by the function that certifies sellers."""
    of_length = numbers(instance, summaries)
    parts = [p[n] for p, n in zip(seller.parts, of_length, strict=False)]
    return worst_of_chances(instance, parts, seller.whole)[1]


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_summaries_have_the_optimum_of_every_history(seed):
    instance = random_game(np.random.default_rng(seed))
    summaries = Summaries(instance)
    for h in histories(instance):
        number = summaries.of(np.array([h]))[0]
        best = Fraction(int(summaries.optimum[len(h)][number]), summaries.money)
        assert best == offline(instance, h)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.sampled_from([0, 1, 3, 1000]))
def test_the_interval_has_the_exact_ratio_in_it(seed, followed):
    rng = np.random.default_rng(seed)
    instance = random_game(rng)
    summaries = Summaries(instance)
    seller = draw(instance, summaries, rng)
    ratio = exact(instance, summaries, seller)
    found = worst_interval(instance, summaries, seller, followed=followed)
    if ratio is None:
        assert found.upper is None
        assert found.draws_seen is None
        return
    assert found.lower <= ratio
    assert found.upper is None or ratio <= found.upper
    assert found.draws_seen is None or found.upper <= found.draws_seen
    if followed == 1000:
        assert found.closed
        assert found.lower == ratio


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_who_sees_the_draws_gets_what_it_gets_in_the_tree_of_all_courses(seed):
    """Newton's ratio is where the adversary's value, by plain recursion in fractions, is 0."""
    rng = np.random.default_rng(seed)
    instance = random_game(rng, most=2)
    summaries = Summaries(instance)
    seller = draw(instance, summaries, rng)

    def gain(alpha, h, s):
        """The most OPT - alpha ALG from here on, if the stock is known in every round."""
        t, number = len(h), summaries.of(np.array([h], dtype=int).reshape(1, -1))[0]
        options = [offline(instance, h)] if h else []
        for j, kind in enumerate(instance.types if t < instance.horizon else ()):
            sold = instance.stocks.sold[t][s][j]
            chance = Fraction(int(seller.parts[t][number, j, s]), 6) if sold >= 0 else 0
            goes = (1 - chance) * gain(alpha, (*h, j), instance.stocks.kept[t][s])
            if chance:
                goes += chance * (gain(alpha, (*h, j), sold) - alpha * kind.value)
            options.append(goes)
        return max(options)

    seen = worst_interval(instance, summaries, seller).draws_seen
    if seen is None:
        assert gain(Fraction(10**6), (), 0) > 0
    else:
        assert gain(seen, (), 0) <= 0
        assert gain(seen - Fraction(1, 2000), (), 0) > 0


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_a_rule_that_is_drawn_first_is_the_mean_of_its_rules(seed):
    rng = np.random.default_rng(seed)
    instance = random_game(rng)
    summaries = Summaries(instance)
    seller = draw(instance, summaries, rng, rules=2)
    halves = [
        SummarySeller([np.split(p, 2, axis=2)[k] for p in seller.parts], seller.whole)
        for k in range(2)
    ]
    found = worst_interval(instance, summaries, seller)
    alone = [worst_interval(instance, summaries, half).lower for half in halves]
    if found.lower is not None and None not in alone:
        # A sequence is worst for the mean, so it is no worse than the worse of both.
        assert found.lower <= max(alone)
        assert found.closed


def test_who_draws_nothing_hides_nothing():
    instance = game((2, 2), PARTS, 9)  # 3^9 histories
    summaries = Summaries(instance)
    found = worst_interval(instance, summaries, always(instance, 1))
    assert found.closed
    assert found.lower == found.draws_seen == 4


def test_the_worth_of_hidden_draws_by_hand():
    # The first part is sold to with 4/7. Unseen, 4/7 of OPT is kept on both sequences. Who sees the
    # draw brings the bundle if it was sold and stops if not: OPT is 4 * 4/7 + 3/7, ALG 4/7.
    instance = game((1, 1), PARTS, 2)
    summaries = Summaries(instance)
    parts = always(instance, 7).parts
    parts[0][:, :2] = 4
    found = worst_interval(instance, summaries, SummarySeller(parts, 7))
    assert found.lower == found.upper == Fraction(7, 4)
    assert found.draws_seen == Fraction(19, 4)


def test_a_seller_that_may_earn_nothing_has_no_bound():
    instance = game((1, 1), PARTS, 9)
    summaries = Summaries(instance)
    found = worst_interval(instance, summaries, always(instance, 0))
    assert found.lower is None
    assert found.upper is None


@pytest.mark.parametrize("horizon", [5, 6, 7])
def test_the_interval_of_the_shipped_network_is_its_exact_ratio(horizon):
    # Up to 4^7 histories are looked at one by one, too.
    instance = quickstart(np.random.default_rng(0), horizon=horizon)
    sight = Sight(instance)
    read = read_policy(str(SHIPPED["quickstart"]), "adversarial_bundles", ("networks",))
    seller = SummarySeller(chances_of_summaries(sight, network(read, sight)), PARTS_OF_A_CHANCE)
    found = worst_interval(instance, sight.summaries, seller)
    assert found.closed
    assert found.lower == exact(instance, sight.summaries, seller)
    few = worst_interval(instance, sight.summaries, seller, followed=2)
    assert few.lower <= found.lower <= few.upper <= few.draws_seen


@pytest.mark.parametrize("horizon", [9, 12])
def test_games_of_too_many_histories_have_few_summaries(horizon):
    instance = quickstart(np.random.default_rng(0), horizon=horizon)
    summaries = Summaries(instance)
    assert 4**horizon > 10**5 > len(summaries)
    seller = draw(instance, summaries, np.random.default_rng(horizon), whole=24)
    one, two = (worst_interval(instance, summaries, seller, followed=n) for n in (20, 200))
    for found in (one, two):
        assert found.lower <= found.upper <= found.draws_seen
    assert max(one.lower, two.lower) <= min(one.upper, two.upper)
