"""A lottery over sequences proves what the best response leaves, and nothing else."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.adversarial_online.policy.instance import (
    AdversarialOnlinePolicyCertificate,
    WeightedSequence,
)
from gadgetopt.models.adversarial_online.policy.proving.certificate import check_bound
from gadgetopt.models.adversarial_online.subproblems.responses import best_response

from ..brute_force import game, random_game, run, value


def lottery(*weighted, prices=()):
    return AdversarialOnlinePolicyCertificate(
        sequences=tuple(
            WeightedSequence(levels=levels, weight=Fraction(weight)) for levels, weight in weighted
        ),
        prediction_prices=tuple(map(Fraction, prices)),
    )


def test_a_chain_with_a_random_end_proves_the_ratio():
    # On 1, 2, 4 with weights 1 - 1/2, 1/2 - 1/4, 1/4 a unit earns 1 whenever it is sold, and OPT
    # is 1/2 + 2/4 + 4/4.
    proof = lottery(((0,), "1/2"), ((0, 1), "1/4"), ((0, 1, 2), "1/4"))
    assert check_bound(game([1, 2, 4], 1, 3), proof) == 2


def test_the_best_response_is_that_of_all_deterministic_sellers():
    # A seller decides on a sale after every history: all 0-1 choices, at most k on a path.
    rng = np.random.default_rng(1)
    for _ in range(40):
        J, k = int(rng.integers(1, 4)), int(rng.integers(1, 3))
        levels = [Fraction(int(x)) for x in sorted(rng.choice(9, size=J, replace=False) + 1)]
        weighted = [
            (tuple(rng.integers(0, J, size=int(rng.integers(1, 4))).tolist()), Fraction(int(w), 7))
            for w in rng.integers(0, 9, size=3)
        ]
        histories = sorted({h[:t] for h, _ in weighted for t in range(1, len(h) + 1)})
        best = Fraction(0)
        for choice in itertools.product((0, 1), repeat=len(histories)):
            sells = dict(zip(histories, choice, strict=True))
            sales = [[t for t in range(1, len(h) + 1) if sells[h[:t]]] for h, _ in weighted]
            if max(map(len, sales)) <= k:
                earned = sum(
                    weight * sum(levels[h[t - 1]] for t in sold)
                    for (h, weight), sold in zip(weighted, sales, strict=True)
                )
                best = max(best, earned)
        assert best_response(levels, k, weighted) == best


@pytest.mark.parametrize("payoff", ["ratio", "regret"])
def test_random_lotteries_never_prove_more_than_the_value(payoff):
    proved = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        instance = random_game(rng, payoff=payoff)
        best = value(instance)
        for _ in range(5):
            proof = lottery(
                *(
                    (
                        tuple(
                            sorted(
                                rng.integers(
                                    0,
                                    len(instance.levels),
                                    size=int(rng.integers(1, instance.horizon + 1)),
                                ).tolist()
                            )
                        ),
                        int(rng.integers(0, 9)),
                    )
                    for _ in range(4)
                )
            )
            bound = check_bound(instance, proof)
            if bound is not None:
                assert float(bound) <= best * (1 + 1e-7) + 1e-9
                proved += 1
    assert proved > 100


def test_predictions_tighten_what_is_proved():
    # To keep all of 4 on 1, 4 nothing may be sold to 1: then the ratio is infinite, and the higher
    # the price of the prediction, the more is proved of any consistency near 1.
    instance = game([1, 4], 1, 2, predictions=((0, 1),), consistency=Fraction(7, 8))
    found = run(instance)
    assert found.status == "optimal"
    # x1 + 4 x2 >= 7/2 with x1 + x2 <= 1 leaves x1 <= 1/6, so the ratio is 6.
    assert float(found.objective) == pytest.approx(6, rel=1e-9)
    assert float(found.bound) == pytest.approx(6, rel=1e-9)
    assert found.certificate.prediction_prices[0] > 0


def test_what_does_not_fit_is_refused():
    instance = game([1, 2], 1, 2)
    for proof, reason in [
        (lottery(((0, 0, 0), 1)), "3 buyers, the horizon is 2"),
        (lottery(((2,), 1)), "level 2 of 2"),
        (lottery(((0,), -1)), "-1 is negative"),
        (lottery(((0,), 1), prices=[1]), "1 for 0 predictions"),
    ]:
        with pytest.raises(ValueError, match=reason):
            check_bound(instance, proof)
    assert check_bound(instance, lottery(((0,), 0))) is None
