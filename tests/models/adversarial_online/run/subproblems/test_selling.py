"""Fast replay, expectation without sampling, and the replay of the definition are the same."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.adversarial_online.run.instance import AdversarialOnlineRunInstance
from gadgetopt.models.adversarial_online.run.subproblems import one_draw
from gadgetopt.models.adversarial_online.run.subproblems.price_bound import price_bound
from gadgetopt.models.adversarial_online.run.subproblems.selling import sell
from gadgetopt.models.adversarial_online.subproblems.curves import (
    grid_limits,
    one_seed_lottery,
    static_lottery,
)
from gadgetopt.models.adversarial_online.subproblems.replay import replay
from gadgetopt.models.adversarial_online.subproblems.whole import AT_ONCE

from ..brute_force import small_instance, values_of


@given(seed=st.integers(0, 10**6), units_only=st.booleans(), falling=st.booleans())
def test_the_fast_replay_sells_what_the_definition_says(seed, units_only, falling):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng, units_only=units_only)
    tables = [
        [
            Fraction(int(p), 100)
            for p in sorted(rng.integers(50, 900, size=c).tolist(), reverse=falling)
        ]
        for c in instance.capacity
    ]
    slow = replay(tables, values_of(instance), instance.demands)
    fast = sell(instance, tables)
    assert tuple(fast.accepted) == slow.accepted
    assert sum(fast.payment) == slow.revenue


@pytest.mark.parametrize("digits", [2, 11])
def test_a_stream_of_several_parts_is_one_stream(digits):
    # At eleven digits the numbers are too large for 64-bit integers that doubles hold exactly.
    rng = np.random.default_rng(digits)
    values = (2 - rng.power(3, size=2 * AT_ONCE + 7)).round(digits)
    table = tuple(Fraction(100 + k, 100) for k in range(0, 100, 2))
    instance = AdversarialOnlineRunInstance(
        capacity=(len(table),),
        value=tuple(values.tolist()),
        value_min=Fraction(1),
        value_max=Fraction(2),
    )
    whole, scale = instance.whole_values
    exact = values_of(instance)
    slow = replay([table], exact, instance.demands)
    assert slow.accepted[-1] > AT_ONCE
    assert [Fraction(int(x), scale) for x in whole] == exact
    assert tuple(sell(instance, [table]).accepted) == slow.accepted
    price = Fraction(199, 100)
    worth = sum((max(Fraction(0), value - price) for value in exact), Fraction(0))
    assert price_bound(instance, [price]) == len(table) * price + worth


@given(seed=st.integers(0, 10**6))
def test_chances_are_those_of_all_draws_of_the_seed(seed):
    # Every table that a seed can draw, replayed, against the growth of the utilisation.
    instance = small_instance(np.random.default_rng(seed), units_only=True, grid=True)
    k, values = instance.capacity[0], values_of(instance)
    limits = grid_limits(instance.levels)
    reach = one_draw.share_reach(instance)
    for expected, lottery in (
        (one_draw.one_seed(reach), one_seed_lottery(instance.levels, limits, k)),
        (one_draw.random_static(reach, k), static_lottery(instance.levels, limits, k)),
    ):
        chance = dict(zip(expected.accepted, expected.share, strict=True))
        drawn: dict[int, Fraction] = {}
        for posted in lottery:
            for t in replay(posted.prices, values, instance.demands).accepted:
                drawn[t] = drawn.get(t, Fraction(0)) + posted.probability
        assert drawn == chance


@given(seed=st.integers(0, 10**6), number=st.fractions(0, 1, max_denominator=97))
def test_one_seed_realises_the_shares_within_capacity(seed, number):
    instance = small_instance(np.random.default_rng(seed), units_only=True)
    expected = one_draw.one_seed(one_draw.exponential_reach(instance))
    total, picked = -number, 0
    for share in expected.share:
        picked += math.ceil(total + share) - math.ceil(total)
        total += share
    assert picked <= instance.capacity[0]
