"""Prices prove what every start, looked at one by one, costs at least."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.a_srpt.proving.certificate.price_checks import (
    MOST_TICKS,
    StepPrices,
    preemptive_price_bound,
    price_bound,
)
from gadgetopt.models.a_srpt.relaxations import Pool, pool_of

from ...rigid_jobs import (
    instance_of,
    pool_optimum,
    random_jobs,
)


def random_prices(rng, scale=1):
    times = np.unique(rng.integers(0, 25, int(rng.integers(2, 8))))
    times = times if len(times) > 1 else np.array([0, 5])
    prices = rng.integers(0, 9, len(times) - 1) * scale
    return StepPrices(times.astype(np.int64), prices.astype(np.int64), 4 * scale)


def price_of_tick(steps, t):
    for a, b, p in zip(steps.times[:-1], steps.times[1:], steps.prices, strict=True):
        if a <= t < b:
            return Fraction(int(p), steps.denominator)
    return Fraction(0)


def plain_bounds(pool, steps):
    """Return L and T by looking at every whole start and every tick."""
    horizon = int(steps.times[-1])
    price = [price_of_tick(steps, t) for t in range(horizon + 100)]
    charged = pool.total_gpus * sum(price)
    best = preemptive = -charged
    for r, d, g, w in zip(pool.release, pool.duration, pool.gpus, pool.weight, strict=True):
        weight = Fraction(int(w), pool.weight_scale)
        ends = range(int(r), max(horizon, int(r)) + 1)
        best += min(weight * (s + int(d)) + int(g) * sum(price[s : s + d]) for s in ends)
        ticks = [
            weight * (t + Fraction(1, 2)) + int(g * d) * price[t]
            for t in range(int(r), max(horizon, int(r)) + int(d))
        ]
        preemptive += sum(sorted(ticks)[:d]) / int(d) + weight * int(d) / 2
    return best, preemptive


@pytest.mark.parametrize("seed", range(30))
def test_bounds_of_prices_are_those_of_every_start(seed):
    rng = np.random.default_rng(seed)
    pool = pool_of(instance_of((3, 2), random_jobs(rng, 5, 5, (1, Fraction(1, 3), 2))))
    steps = random_prices(rng)
    best, preemptive = plain_bounds(pool, steps)
    assert price_bound(pool, steps) == best
    assert preemptive_price_bound(pool, steps) == preemptive <= best


def test_numbers_beyond_64_bits_give_the_same_bound():
    rng = np.random.default_rng(1)
    pool = pool_of(instance_of((3, 2), random_jobs(rng, 6, 5)))
    for _ in range(5):
        steps = random_prices(rng)
        huge = StepPrices(
            steps.times, steps.prices.astype(object) * 10**30, steps.denominator * 10**30
        )
        assert price_bound(pool, huge) == price_bound(pool, steps)
        assert preemptive_price_bound(pool, huge) == preemptive_price_bound(pool, steps)


def test_random_prices_never_prove_more_than_the_optimum():
    rng = np.random.default_rng(2)
    for _ in range(5):
        instance = instance_of((2, 2), random_jobs(rng, 5, 4))
        pool, optimum = pool_of(instance), pool_optimum(instance)
        for _ in range(40):
            assert price_bound(pool, random_prices(rng)) <= optimum


def test_no_prices_prove_b0():
    pool = pool_of(instance_of((2,), [(3, 2, 4, 2), (0, 1, 5, 1)]))
    steps = StepPrices(np.array([0, 1]), np.array([0]))
    assert price_bound(pool, steps) == 2 * 7 + 5


def test_a_check_of_too_many_ticks_is_refused():
    pool = Pool(*(np.array([1]) for _ in range(4)), weight_scale=1, total_gpus=1)
    steps = StepPrices(np.array([0, MOST_TICKS]), np.array([1]))
    with pytest.raises(ValueError, match="too many to check"):
        preemptive_price_bound(pool, steps)
