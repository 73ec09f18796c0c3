"""Policies: those of collections as the oracle, and the host below the device."""

from collections import OrderedDict

import numpy as np
import pytest

from gadgetopt.models.bgl.cache.instance import CacheInstance
from gadgetopt.models.bgl.cache.subproblems.replay import replay

from ..brute_force import objective, small_instance


def misses_of_lru(batches, capacity):
    held, misses = OrderedDict(), 0
    for nodes in batches:
        hits = [v for v in nodes if v in held]
        misses += len(nodes) - len(hits)
        for v in hits:
            held.move_to_end(v)
        for v in nodes:
            if v not in hits:
                held[v] = None
                if len(held) > capacity:
                    held.popitem(last=False)
    return misses


@pytest.mark.parametrize("seed", range(40))
def test_lru_is_that_of_an_ordered_dictionary(seed):
    instance = small_instance(np.random.default_rng(seed), "given")
    if instance.capacity:
        order = range(len(instance.requests))
        found = objective(instance, replay(instance, order, "lru"))
        assert found == misses_of_lru(instance.batches(tuple(order)), instance.capacity)


def test_fifo_does_not_move_what_is_hit():
    # 0 is hit, but leaves first: FIFO loads 0 again, LRU does not.
    requests = ((0,), (1,), (0,), (2,), (0,))
    instance = CacheInstance(requests=requests, capacity=2, order="given")
    assert objective(instance, replay(instance, range(5), "fifo")) == 4
    assert objective(instance, replay(instance, range(5), "lru")) == 3


def test_lfu_keeps_what_was_used_often():
    requests = ((0,), (0,), (1,), (2,), (0,), (1,))
    instance = CacheInstance(requests=requests, capacity=2, order="given")
    assert objective(instance, replay(instance, range(6), "lfu")) == 4


def test_the_host_takes_what_leaves_the_device():
    requests = ((0,), (1,), (0,), (1,))
    instance = CacheInstance(
        requests=requests, capacity=1, order="given", remote_cost=10, host_capacity=1, host_cost=1
    )
    assert objective(instance, replay(instance, range(4), "fifo")) == 22


def test_a_node_larger_than_the_cache_passes_by():
    requests = ((0, 1), (0, 1))
    instance = CacheInstance(requests=requests, capacity=1, order="given", sizes=(1, 2))
    assert objective(instance, replay(instance, range(2), "lru")) == 3
