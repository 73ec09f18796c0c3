"""All schedules on servers below a cost: against enumeration, and the pool's own search."""

import numpy as np
import pytest

from gadgetopt.models.a_srpt.proving.certificate.cluster_exhaustion import none_cheaper
from gadgetopt.models.a_srpt.proving.certificate.pool_exhaustion import (
    none_cheaper as none_cheaper_in_the_pool,
)
from gadgetopt.models.a_srpt.relaxations import pool_of

from ...brute_force import (
    optimum,
    tiny,
)
from ...rigid_jobs import (
    cluster_optimum,
    fragmented,
    instance_of,
    random_jobs,
)


def price_lists(rng):
    """Return prices of nothing, and random ones, with their denominators."""
    return [([], 1), ([0], 3), (rng.integers(0, 9, 25).tolist(), int(rng.integers(1, 6)))]


def optimum_alone_is_found(instance, least, rng):
    least = int(least * instance.weight_scale)
    for prices, denominator in price_lists(rng):
        assert none_cheaper(instance, prices, denominator, least)
        for below in (least + 1, least + 7):
            assert not none_cheaper(instance, prices, denominator, below)


@pytest.mark.parametrize("seed", range(40))
def test_jobs_of_several_stages_agree_with_enumeration(seed):
    rng = np.random.default_rng(seed)
    instance = tiny(rng)
    optimum_alone_is_found(instance, optimum(instance), rng)


@pytest.mark.parametrize("seed", range(24))
def test_jobs_that_do_not_fit_together_agree_with_enumeration(seed):
    instance = fragmented(seed)
    optimum_alone_is_found(instance, cluster_optimum(instance), np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(20))
def test_one_server_is_the_pool(seed):
    """The two searches share no code; what one of them refutes, the other one does."""
    rng = np.random.default_rng(seed)
    instance = instance_of((4,), random_jobs(rng, 6, 4))
    relaxed = pool_of(instance)
    soonest = int(relaxed.weight @ (relaxed.release + relaxed.duration))
    prices = rng.integers(0, 4, 30)
    for more in range(1, 30, 4):
        mine = none_cheaper(instance, prices.tolist(), 4, soonest + more)
        assert mine == none_cheaper_in_the_pool(relaxed, prices, 4, soonest + more, 10**6)


def test_what_is_too_much_to_look_at_proves_nothing():
    rng = np.random.default_rng(0)
    instance = fragmented(1)
    least = int(cluster_optimum(instance) * instance.weight_scale)
    assert not none_cheaper(instance, [], 1, least, most_states=10)
    many = instance_of((2,), random_jobs(rng, 101, 2))
    assert not none_cheaper(many, [], 1, 1)
    assert not none_cheaper(instance, [0] * 10**6, 1, 1)
