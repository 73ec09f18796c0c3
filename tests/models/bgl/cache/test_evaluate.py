"""The evaluator counts what is loaded, and rejects what the caches cannot hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.bgl.cache.evaluate import evaluate
from gadgetopt.models.bgl.cache.instance import CacheInstance, CacheSolution
from gadgetopt.models.bgl.cache.subproblems.replay import replay

from .brute_force import small_instances

TWO = CacheInstance(requests=((0, 1), (1, 2), (0, 2)), capacity=1, order="free")


def test_a_feature_costs_nothing_while_it_is_retained():
    # 0 and 1 are loaded, 1 stays and hits, 2 is loaded and stays, 0 is loaded again: 4.
    found = evaluate(TWO, CacheSolution(order=(0, 1, 2), evicted=((0,), (1,))))
    assert found.feasible
    assert found.objective == 4
    assert found.components["device_hits"] == 2


def test_preloads_cost_as_much_as_misses():
    found = evaluate(TWO, CacheSolution(order=(0, 1, 2), evicted=((1,), (1, 2)), preloaded=(0,)))
    assert found.objective == 5
    assert found.components["cost_without_preloads"] == 4


@pytest.mark.parametrize(
    ("changes", "violated"),
    [
        ({"order": (0, 1)}, "request_missing"),
        ({"order": (0, 1, 1)}, "request_twice"),
        ({"order": (0, 1, 3)}, "unknown_request"),
        ({"evicted": ((0,),)}, "number_of_lists"),
        ({"evicted": ((), (1,))}, "device_capacity"),
        ({"evicted": ((0, 2), (1,))}, "evicted_is_not_there"),
        ({"demoted": ((0,), ())}, "host_capacity"),
        ({"demoted": ((1,), ())}, "demoted_is_not_evicted"),
        ({"dropped": ((0,), ())}, "dropped_is_not_there"),
        ({"preloaded": (7,)}, "unknown_preload"),
        ({"preloaded": (0, 1)}, "device_capacity"),
    ],
)
def test_a_perturbed_solution_is_rejected(changes, violated):
    good = CacheSolution(order=(0, 1, 2), evicted=((0,), (1,)))
    found = evaluate(TWO, good.model_copy(update=changes))
    assert violated in {v.constraint for v in found.violations}


def test_a_given_order_is_kept():
    given_order = TWO.model_copy(update={"order": "given"})
    found = evaluate(given_order, CacheSolution(order=(1, 0, 2), evicted=((2,), (1,))))
    assert [v.constraint for v in found.violations] == ["order_is_given"]


@given(small_instances(), st.sampled_from(["fifo", "lru", "lfu"]), st.integers(0, 99))
def test_what_a_policy_does_is_feasible_and_costs_no_less_than_compulsory(instance, policy, seed):
    order = list(range(len(instance.requests)))
    if instance.order == "free":
        order = np.random.default_rng(seed).permutation(len(order)).tolist()
    found = evaluate(instance, replay(instance, order, policy))
    assert found.feasible, found.violations
    assert found.objective >= instance.compulsory_cost
