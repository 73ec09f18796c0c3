"""FIFO and LRU stay within K + 1, and the ratio is tight."""

import numpy as np
import pytest

from gadgetopt.models.bgl.cache.data.generate.presets import paging
from gadgetopt.models.bgl.cache.guarantees.paging import is_paging, is_uniform, ratio
from gadgetopt.models.bgl.cache.instance import CacheInstance

from ..brute_force import run


@pytest.mark.parametrize("policy", ["fifo", "lru"])
@pytest.mark.parametrize("seed", range(8))
def test_the_ratio_holds(policy, seed):
    rng = np.random.default_rng(seed)
    instance = paging(
        rng, requests=60, nodes=int(rng.integers(2, 9)), capacity=int(rng.integers(4))
    )
    assert is_paging(instance, {})
    assert is_uniform(instance, {})
    best = run(instance, "belady").objective
    assert run(instance, policy).objective <= ratio(instance, {}) * best


@pytest.mark.parametrize("policy", ["fifo", "lru"])
def test_a_circle_of_one_node_too_many_comes_close(policy):
    # K + 1 nodes in turn: the policy misses always, the optimum once a round after the first.
    capacity, rounds = 3, 40
    requests = tuple((k % (capacity + 1),) for k in range(rounds * (capacity + 1)))
    instance = CacheInstance(requests=requests, capacity=capacity, order="given")
    measured = run(instance, policy).objective / run(instance, "belady").objective
    assert 0.9 * ratio(instance, {}) < measured <= ratio(instance, {})


def test_batches_of_several_nodes_are_no_paging():
    instance = CacheInstance(requests=((0, 1),), capacity=1, order="given")
    assert not is_paging(instance, {})
