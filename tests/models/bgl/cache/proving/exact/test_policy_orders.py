"""Policies that cost something to run: all orders, the states, and the map from misses to cost."""

import itertools
import os

import numpy as np
import pytest

from gadgetopt.models.bgl.cache.evaluate import evaluate
from gadgetopt.models.bgl.cache.instance import CacheInstance, PolicyCosts, RunningCost
from gadgetopt.models.bgl.cache.proving.certificate.check import (
    DYNAMIC,
    CacheCertificate,
    RunningPolicies,
    check_bound,
    cost_of_misses,
)
from gadgetopt.models.bgl.cache.subproblems.replay import replay, static
from gadgetopt.system.result import Status, Voucher

from ...brute_force import objective, run, small_instance

TRIES = int(os.environ.get("GADGETOPT_BGL", "25"))
BATCHES = ((1, 2), (1, 3), (2, 4), (1, 3), (2, 5), (1, 4))
#: Least costs by hand-checked enumeration of the 720 orders: given and best order of FIFO, LRU and
#: LFU, and the best static cache; by the cost of a miss and the capacity.
TABLE = {
    (10, 1): ((155, 95), (155, 100), (166, 111), 102),
    (10, 2): ((118, 82), (143, 88), (131, 87), 82),
    (10, 3): ((105, 69), (109, 76), (107, 85), 72),
    (2, 2): ((46, 34), (55, 40), (59, 47), 26),
}


def of_batches(c, capacity, **data):
    wanted = {"order": "free", "policy_cost": PolicyCosts()} | data
    return CacheInstance(requests=BATCHES, capacity=capacity, remote_cost=c, **wanted)


def best_static_by_enumeration(instance):
    nodes = sorted(instance.frequency)
    held = [
        s
        for k in range(min(instance.capacity, len(nodes)) + 1)
        for s in itertools.combinations(nodes, k)
    ]
    order = range(len(instance.requests))
    # An empty cache is one of capacity 0, as `static` fills what there is.
    return min(
        objective(instance, static(instance.model_copy(update={"capacity": len(s)}), order, s))
        for s in held
    )


def optimum(instance):
    orders = [tuple(range(len(instance.requests)))]
    if instance.order == "free":
        orders = list(itertools.permutations(orders[0]))
    dynamic = (objective(instance, replay(instance, o, p)) for o in orders for p in DYNAMIC)
    return min(*dynamic, best_static_by_enumeration(instance))


def drawn(rng, most_cost=4):
    instance = small_instance(rng, "free")
    costs = {
        name: RunningCost(
            **dict(zip(parts, rng.integers(0, most_cost, size=4).tolist(), strict=True))
        )
        for name in (*DYNAMIC, "static")
        for parts in [("lookup", "hit", "admit", "evict")]
    }
    data = {"remote_cost": int(rng.integers(1, 9)), "policy_cost": PolicyCosts(**costs)}
    return instance.model_copy(update=data)


@pytest.mark.parametrize("key", TABLE)
def test_the_table_of_given_and_best_orders(key):
    instance = of_batches(*key)
    orders = list(itertools.permutations(range(6)))
    for policy, (given, best) in zip(DYNAMIC, TABLE[key], strict=False):
        costs = [objective(instance, replay(instance, o, policy)) for o in orders]
        assert (costs[0], min(costs)) == (given, best), policy
    assert best_static_by_enumeration(instance) == TABLE[key][-1]
    least = min(TABLE[key][-1], *(best for _, best in TABLE[key][:-1]))
    for method in ("order_search", "policy_orders"):
        found = run(instance, method)
        assert (found.status, found.objective) == (Status.OPTIMAL, least), method
    given = run(of_batches(*key, order="given"), "order_search")
    assert given.objective == min(TABLE[key][-1], *(first for first, _ in TABLE[key][:-1]))


def test_policy_and_order_are_chosen_together():
    # A miss costs 10, one place: with the order given the static cache is best, with the order
    # free FIFO. With two places both cost the same, a tie.
    assert run(of_batches(10, 1, order="given"), "policy_orders").solution.policy == "static"
    best = run(of_batches(10, 1), "order_search")
    assert (best.solution.policy, best.objective) == ("fifo", 95)
    assert best.bound_voucher is Voucher.VERIFIED
    (_, fifo), *_, held = TABLE[10, 2]
    assert fifo == held


@pytest.mark.parametrize("seed", range(TRIES))
def test_the_states_find_what_all_orders_and_policies_have(seed):
    instance = drawn(np.random.default_rng(seed))
    best = optimum(instance)
    for method in ("policy_orders", "order_search"):
        found = run(instance, method)
        assert (found.status, found.objective) == (Status.OPTIMAL, best), method
    for reloads in range(5):
        bound = check_bound(instance, CacheCertificate(proof=RunningPolicies(reloads=reloads)))
        assert bound is None or bound <= best


@pytest.mark.parametrize("seed", range(170))
def test_costs_are_a_map_of_misses(seed):
    rng = np.random.default_rng(seed)
    instance = drawn(rng, most_cost=2)
    instance = instance.model_copy(update={"remote_cost": 9})
    order = rng.permutation(len(instance.requests)).tolist()
    for policy in DYNAMIC:
        found = evaluate(instance, replay(instance, order, policy))
        assert found.feasible, found.violations
        assert found.objective == cost_of_misses(instance, policy, found.components["misses"])


@pytest.mark.parametrize("policy", DYNAMIC)
def test_policies_that_cost_nothing_cost_what_they_load(policy):
    free = PolicyCosts(**{name: RunningCost() for name in (*DYNAMIC, "static")})
    with_costs, without = of_batches(10, 2, policy_cost=free), of_batches(10, 2, policy_cost=None)
    costs = [objective(i, replay(i, range(6), policy)) for i in (with_costs, without)]
    assert costs[0] == costs[1]


def test_what_leaves_is_what_the_policy_says():
    instance = of_batches(10, 1)
    fifo = replay(instance, range(6), "fifo")
    other = fifo.model_copy(update={"evicted": ((1, 2), *fifo.evicted[1:])})
    constraints = {v.constraint for v in evaluate(instance, other).violations}
    assert "evicted_is_not_of_the_policy" in constraints
    nameless = fifo.model_copy(update={"policy": None})
    assert [v.constraint for v in evaluate(instance, nameless).violations] == ["policy"]
    assert not evaluate(of_batches(10, 1, policy_cost=None), fifo).feasible
    preloading = fifo.model_copy(update={"preloaded": (1,)})
    assert "preloads_of_a_policy" in {
        v.constraint for v in evaluate(instance, preloading).violations
    }


@pytest.mark.parametrize("method", ["joint@highs", "cp_joint", "order_states", "path_order"])
def test_methods_that_decide_what_leaves_refuse_policies(method):
    assert run(of_batches(10, 1), method).refused


def test_costs_of_policies_need_plain_caches():
    with pytest.raises(ValueError, match="policy_cost: expected none"):
        of_batches(10, 1, weights=(1, 1, 2, 1, 1, 1))
    with pytest.raises(ValueError, match="policy_cost"):
        check_bound(
            of_batches(10, 1, policy_cost=None),
            CacheCertificate(proof=RunningPolicies(reloads=0)),
        )
