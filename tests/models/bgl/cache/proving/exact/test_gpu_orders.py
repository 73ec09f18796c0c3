"""Several GPUs: every order, every route, all policies, and certificates that do not prove more.

GADGETOPT_BGL=200 in the environment tries more random instances (default 25).
"""

import itertools
import os

import numpy as np
import pytest

from gadgetopt.models.bgl.cache.evaluate import evaluate
from gadgetopt.models.bgl.cache.instance import CacheInstance, GpuPlan, PolicyCosts, RunningCost
from gadgetopt.models.bgl.cache.proving.certificate.check import (
    DYNAMIC,
    BoundaryPrices,
    CacheCertificate,
    Compulsory,
    EachCache,
    EveryPlan,
    best_static,
    check_bound,
)
from gadgetopt.models.bgl.cache.subproblems.replay import replay, static
from gadgetopt.system.result import Status, Voucher

from ...brute_force import asked_of_gpus, objective, optimum, run, small_instance

TRIES = int(os.environ.get("GADGETOPT_BGL", "25"))
BATCHES = ((1, 2), (1, 3), (2, 4), (1, 3), (2, 5), (1, 4))
#: The hand-checked batches over two GPUs, a miss costs 10; by capacity and cost of peers: private
#: and partitioned caches in the given order, then in the best one, with the best retention.
TABLE = {
    (1, 6): ((80, 88), (80, 78)),
    (1, 1): ((80, 73), (80, 55)),
    (2, 3): ((70, 59), (70, 59)),
}


def of_gpus(capacity, caches, peer_cost=0, order="free", **data):
    gpus = {"count": 2, "caches": caches, "peer_cost": peer_cost}
    return CacheInstance(
        requests=BATCHES, capacity=capacity, order=order, remote_cost=10, gpus=gpus, **data
    )


def with_policies(rng):
    instance = small_instance(rng, "gpus")
    costs = {
        name: RunningCost(
            **dict(
                zip(
                    ("lookup", "hit", "admit", "evict"),
                    rng.integers(0, 4, size=4).tolist(),
                    strict=True,
                )
            )
        )
        for name in (*DYNAMIC, "static")
    }
    changed = {"policy_cost": PolicyCosts(**costs), "weights": None}
    data = {name: getattr(instance, name) for name in CacheInstance.model_fields} | changed
    return CacheInstance(**data)


def cost_of_policy(instance, order, policy):
    """The policy on every cache as an instance of its own, and what is fetched from peers."""
    asked, peers = asked_of_gpus(instance, order)
    data = {name: getattr(instance, name) for name in CacheInstance.model_fields}
    total = peers
    for lists in filter(None, asked):
        alone = CacheInstance(**data | {"requests": lists, "order": "given", "gpus": None})
        every = range(len(lists))
        if policy == "static":
            total += objective(alone, static(alone, every, best_static(alone)))
        else:
            total += objective(alone, replay(alone, every, policy))
    return total


def best_policy(instance):
    count = len(instance.requests)
    orders = [tuple(range(count))]
    if instance.order == "free":
        orders = itertools.permutations(range(count))
    return min(cost_of_policy(instance, o, p) for o in orders for p in (*DYNAMIC, "static"))


@pytest.mark.parametrize("key", TABLE)
def test_the_table_of_the_hand_checked_batches(key):
    capacity, peers = key
    for order, costs in zip(("given", "free"), TABLE[key], strict=True):
        for caches, cost in zip(("private", "partitioned"), costs, strict=True):
            peer_cost = peers if caches == "partitioned" else 0
            instance = of_gpus(capacity, caches, peer_cost, order)
            assert optimum(instance) == cost
            for method in ("order_search", "gpu_orders", "joint_gpus@highs"):
                found = run(instance, method)
                assert (found.status, found.objective) == (Status.OPTIMAL, cost), method
            assert run(instance, "order_search").bound_voucher is Voucher.VERIFIED


def test_fifo_on_several_gpus_is_that_of_the_hand_checked_batches():
    # Given order: private 90, partitioned 88; best order 80 and 78.
    orders = list(itertools.permutations(range(6)))
    for caches, peers, given, best in (("private", 0, 90, 80), ("partitioned", 6, 88, 78)):
        instance = of_gpus(1, caches, peers)
        costs = [objective(instance, replay(instance, order, "fifo")) for order in orders]
        assert (costs[0], min(costs)) == (given, best)


def test_which_caches_are_better_depends_on_the_order():
    # The order given, private caches cost less; the order free, partitioned ones.
    given, free = TABLE[1, 6]
    assert given[0] < given[1]
    assert free[0] > free[1]


@pytest.mark.parametrize("seed", range(TRIES))
def test_all_routes_find_the_optimum(seed):
    instance = small_instance(np.random.default_rng(seed), "gpus")
    best = optimum(instance)
    for method in ("order_search", "gpu_orders", "joint_gpus@highs"):
        found = run(instance, method)
        assert (found.status, found.objective) == (Status.OPTIMAL, best), method
    assert run(instance, "order_search").bound_voucher is Voucher.VERIFIED
    assert check_bound(instance, CacheCertificate(proof=Compulsory())) <= best
    for cost in (best - 1, best, best + 1):
        if cost >= 0:
            proved = check_bound(instance, CacheCertificate(proof=EveryPlan(cost=cost)))
            assert proved == (cost if cost <= best else None)


@pytest.mark.parametrize("seed", range(TRIES))
def test_policy_and_order_are_the_best_of_all(seed):
    instance = with_policies(np.random.default_rng(seed))
    best = best_policy(instance)
    for method in ("order_search", "gpu_orders"):
        found = run(instance, method)
        assert (found.status, found.objective) == (Status.OPTIMAL, best), method
        assert found.bound_voucher is Voucher.VERIFIED
    proof = EveryPlan(cost=best + 1)
    assert check_bound(instance, CacheCertificate(proof=proof)) is None


@pytest.mark.parametrize("seed", range(TRIES))
def test_a_replay_costs_what_each_cache_costs(seed):
    rng = np.random.default_rng(seed)
    instance = with_policies(rng)
    order = tuple(range(len(instance.requests)))
    for policy in DYNAMIC:
        found = objective(instance, replay(instance, order, policy))
        assert found == cost_of_policy(instance, order, policy)


@pytest.mark.parametrize("seed", range(TRIES))
def test_prices_of_each_cache_prove_no_more_than_is_true(seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng, "gpus")
    if instance.order == "free":
        return
    best = optimum(instance)
    asked, _ = asked_of_gpus(instance, tuple(range(len(instance.requests))))
    for _ in range(10):
        proofs = tuple(
            BoundaryPrices(device=tuple(rng.integers(0, 9, size=len(lists) - 1).tolist()))
            for lists in filter(None, asked)
        )
        assert check_bound(instance, CacheCertificate(proof=EachCache(caches=proofs))) <= best


def test_sharing_for_nothing_is_no_worse_on_the_hand_checked_batches():
    private, shared = of_gpus(2, "private"), of_gpus(2, "partitioned", 0)
    assert optimum(shared) <= optimum(private)


def test_plans_of_gpus_are_checked():
    instance = of_gpus(1, "private", order="given")
    good = run(instance, "order_search").solution
    for plans, constraint in (
        ((), "number_of_plans"),
        ((GpuPlan(evicted=((), ())), good.gpus[1]), "device_capacity"),
        ((GpuPlan(evicted=((1,),)), good.gpus[1]), "number_of_lists"),
    ):
        wrong = good.model_copy(update={"gpus": plans})
        assert constraint in {v.constraint for v in evaluate(instance, wrong).violations}
    few = CacheInstance(requests=((1,),), capacity=1, order="given", gpus=instance.gpus)
    idle = run(few, "order_search").solution
    busy = idle.model_copy(update={"gpus": (idle.gpus[0], GpuPlan(preloaded=(1,)))})
    assert "nothing_is_asked" in {v.constraint for v in evaluate(few, busy).violations}


@pytest.mark.parametrize(
    "method", ["joint@highs", "cp_joint", "order_states", "path_order", "policy_orders"]
)
def test_methods_of_one_cache_refuse_several(method):
    assert run(of_gpus(1, "private"), method).refused


def test_several_gpus_need_plain_batches():
    with pytest.raises(ValueError, match="gpus: expected none"):
        of_gpus(1, "private", batch_size=2)
    with pytest.raises(ValueError, match="peer_cost: 3, expected 0"):
        of_gpus(1, "private", 3)


def test_certificates_of_one_cache_prove_nothing_of_several():
    instance = of_gpus(1, "private", order="given")
    for proof in (
        BoundaryPrices(device=(0,) * 5),
        EachCache(caches=(BoundaryPrices(device=(0, 0)),)),
    ):
        with pytest.raises(ValueError, match=r"proof\."):
            check_bound(instance, CacheCertificate(proof=proof))
    alone = CacheInstance(requests=BATCHES, capacity=1, order="free")
    with pytest.raises(ValueError, match="plans of several GPUs"):
        check_bound(alone, CacheCertificate(proof=EveryPlan(cost=1)))
