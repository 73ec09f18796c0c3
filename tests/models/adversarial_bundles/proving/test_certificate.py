"""Whatever a lottery proves is true, whoever wrote it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.adversarial_bundles.instance import (
    AdversarialBundlesCertificate,
    WeightedSequence,
)
from gadgetopt.models.adversarial_bundles.proving.certificate import check_bound

from ..brute_force import PARTS, game, histories, offline, random_game, run, sellers, welfare


def lottery(weighted):
    return AdversarialBundlesCertificate(
        sequences=tuple(WeightedSequence(types=h, weight=w) for h, w in weighted)
    )


@given(st.integers(0, 2**32 - 1))
def test_no_lottery_proves_too_much(seed):
    rng = np.random.default_rng(seed)
    instance = random_game(rng)
    every = histories(instance)
    chosen = rng.choice(len(every), size=min(5, len(every)), replace=False)
    drawn = lottery([(every[i], Fraction(int(rng.integers(1, 9)), 7)) for i in chosen])
    assert check_bound(instance, drawn) <= run(instance).objective


@given(st.integers(0, 2**32 - 1))
def test_the_best_response_is_that_of_all_sellers(seed):
    rng = np.random.default_rng(seed)
    instance = random_game(rng, most=2)
    weighted = [(h, Fraction(int(rng.integers(0, 5)))) for h in histories(instance)]
    weighted[0] = weighted[0][0], Fraction(1)
    optimum = sum(w * offline(instance, h) for h, w in weighted)
    earned = max(
        sum(w * welfare(instance, seller, h) for h, w in weighted) for seller in sellers(instance)
    )
    assert check_bound(instance, lottery(weighted)) == optimum / earned


def test_a_lottery_by_hand():
    # The part, then the bundle with 1/3: OPT is worth 1 + 1/3 (4 - 1) = 2 (twice the weights 2/3
    # and 1/3). Selling the part earns 1; not selling it 4/3, so B = 4/3.
    instance = game((1, 1), PARTS, 2)
    assert check_bound(
        instance, lottery([((0,), Fraction(2, 3)), ((0, 2), Fraction(1, 3))])
    ) == Fraction(3, 2)


def test_weights_of_nothing_prove_nothing():
    assert check_bound(game((1, 1), PARTS, 2), lottery([((0,), Fraction(0))])) is None


@pytest.mark.parametrize(
    ("types", "weight", "message"),
    [
        ((0, 1, 2), 1, r"sequences\[1\].types: 3 requests, the horizon is 2"),
        ((0, 3), 1, r"sequences\[1\].types: type 3 of 3"),
        ((0, 2), -1, r"sequences\[1\].weight: -1 is negative"),
    ],
)
def test_forged_lotteries_are_refused(types, weight, message):
    forged = lottery([((0,), Fraction(1)), (types, Fraction(weight))])
    with pytest.raises(ValueError, match=message):
        check_bound(game((1, 1), PARTS, 2), forged)
