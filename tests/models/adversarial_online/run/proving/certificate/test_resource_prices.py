"""The check's bound of prices is that of the search, which computes it by arrays."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.adversarial_online.run.instance import AdversarialOnlineRunInstance
from gadgetopt.models.adversarial_online.run.proving.certificate.resource_prices import (
    bound_of_prices,
)
from gadgetopt.models.adversarial_online.run.subproblems.price_bound import price_bound

from ...brute_force import optimum


def drawn(rng, requests):
    capacity = tuple(rng.integers(1, 6, size=rng.integers(1, 4)).tolist())
    demand = rng.integers(0, 3, size=(requests, len(capacity)))
    demand[:, 0] += demand.sum(axis=1) == 0
    each = rng.choice([1.0, 1.25, 3.5, 7.003, 10.0], size=requests)
    return AdversarialOnlineRunInstance(
        capacity=capacity,
        value=tuple((each * demand.sum(axis=1)).round(9).tolist()),
        demand=tuple(map(tuple, demand.tolist())),
        value_min=Fraction(1),
        value_max=Fraction(10),
    )


def prices_of(rng, instance):
    return [Fraction(int(rng.integers(0, 60)), int(rng.integers(1, 9))) for _ in instance.capacity]


@pytest.mark.parametrize("seed", range(100))
def test_the_check_and_the_search_agree_and_bound_the_optimum(seed):
    rng = np.random.default_rng(seed)
    instance = drawn(rng, 8)
    best = optimum(instance)
    for _ in range(3):
        prices = prices_of(rng, instance)
        assert bound_of_prices(instance, prices) == price_bound(instance, prices) >= best


def test_prices_of_any_number_of_digits_are_exact():
    instance = drawn(np.random.default_rng(0), 30)
    prices = [Fraction(10**40 + 1, 3 * 10**40) for _ in instance.capacity]
    assert bound_of_prices(instance, prices) == price_bound(instance, prices)


def test_a_bound_by_hand():
    # Two units at 3 each; of the values 5, 4 and 2 the first two are above the price, by 2 and 1.
    instance = AdversarialOnlineRunInstance(
        capacity=(2,), value=(5.0, 2.0, 4.0), value_min=Fraction(1), value_max=Fraction(5)
    )
    assert bound_of_prices(instance, [Fraction(3)]) == 6 + 2 + 1
