"""Several GPUs: every order, every route, all policies, and certificates that do not prove more.

GADGETOPT_BGL=200 in the environment tries more random instances (default 25).
"""

import itertools
import os

import numpy as np
import pytest

from gadgetopt.models.bgl.cache.evaluate import evaluate
from gadgetopt.models.bgl.cache.gpus import pool_of
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
CACHES = ("private", "partitioned", "shared")
#: The hand-checked batches over two GPUs, a miss costs 10; by capacity, cost of peers and what
#: counts: private, partitioned and shared caches in the given order, then in the best one, with the
#: best retention.
TABLE = {
    (1, 6, "total"): ((80, 88, 76), (80, 78, 72)),
    (1, 1, "total"): ((80, 73, 71), (80, 55, 54)),
    (2, 3, "total"): ((70, 59, 56), (70, 59, 56)),
    (1, 6, "synchronous"): ((40, 46, 40), (40, 46, 40)),
    (1, 1, "synchronous"): ((40, 41, 40), (40, 41, 40)),
    (2, 3, "synchronous"): ((40, 43, 40), (40, 33, 30)),
}


def of_gpus(capacity, caches, peer_cost=0, order="free", objective="total", **data):
    gpus = {"count": 2, "caches": caches, "peer_cost": peer_cost, "objective": objective}
    return CacheInstance(
        requests=BATCHES, capacity=capacity, order=order, remote_cost=10, gpus=gpus, **data
    )


def model_of(instance):
    return "joint_shared@highs" if instance.gpus.caches == "shared" else "joint_gpus@highs"


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
    capacity, peers, aim = key
    for order, costs in zip(("given", "free"), TABLE[key], strict=True):
        for caches, cost in zip(CACHES, costs, strict=True):
            peer_cost = 0 if caches == "private" else peers
            instance = of_gpus(capacity, caches, peer_cost, order, aim)
            assert optimum(instance) == cost
            for method in ("order_search", "gpu_orders", model_of(instance)):
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
    given, free = TABLE[1, 6, "total"]
    assert given[0] < given[1]
    assert free[0] > free[1]


@pytest.mark.parametrize("kind", ["gpus", "any_gpus"])
@pytest.mark.parametrize("seed", range(TRIES))
def test_all_routes_find_the_optimum(seed, kind):
    instance = small_instance(np.random.default_rng(seed), kind)
    best = optimum(instance)
    for method in ("order_search", "gpu_orders", model_of(instance)):
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
    instance = small_instance(rng, "any_gpus")
    if instance.order == "free":
        return
    best = optimum(instance)
    count = len(instance.requests)
    asked, _ = asked_of_gpus(instance, tuple(range(count)))
    lengths = [len(lists) for lists in asked if lists]
    if instance.gpus.caches == "shared":
        lengths = [-(-count // instance.gpus.count)]
    for _ in range(10):
        proofs = tuple(
            BoundaryPrices(device=tuple(rng.integers(0, 9, size=length - 1).tolist()))
            for length in lengths
        )
        assert check_bound(instance, CacheCertificate(proof=EachCache(caches=proofs))) <= best


@pytest.mark.parametrize("seed", range(TRIES))
def test_shared_caches_cost_no_more_than_partitioned_ones_and_no_less_than_one(seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng, "gpus")
    gpus = {"count": 2, "peer_cost": int(rng.integers(0, instance.remote_cost + 1))}
    data = {name: getattr(instance, name) for name in CacheInstance.model_fields}
    costs = {
        caches: optimum(CacheInstance(**data | {"gpus": gpus | {"caches": caches}}))
        for caches in ("partitioned", "shared")
    }
    assert costs["shared"] <= costs["partitioned"]
    if instance.order == "given":
        shared = CacheInstance(**data | {"gpus": gpus | {"caches": "shared"}})
        pool, peers = pool_of(shared, range(len(instance.requests)))
        assert costs["shared"] >= optimum(pool) + peers


@pytest.mark.parametrize("seed", range(TRIES))
def test_policies_on_shared_caches_cost_no_more_than_on_partitioned_ones(seed):
    instance = small_instance(np.random.default_rng(seed), "any_gpus")
    gpus = instance.gpus.model_copy(update={"caches": "partitioned", "objective": "total"})
    order = tuple(range(len(instance.requests)))
    if instance.gpus.caches != "shared":
        return
    for plan in (lambda i: replay(i, order, "lru"), lambda i: static(i, order, (0, 1, 2, 3))):
        apart = instance.model_copy(update={"gpus": gpus})
        shared = instance.model_copy(update={"gpus": gpus.model_copy(update={"caches": "shared"})})
        found, bound = evaluate(shared, plan(shared)), evaluate(apart, plan(apart))
        if bound.feasible:
            assert found.feasible
            assert found.objective <= bound.objective


@pytest.mark.parametrize("seed", range(TRIES))
def test_no_step_pays_less_than_the_mean_or_more_than_all(seed):
    instance = small_instance(np.random.default_rng(seed), "any_gpus")
    found = evaluate(instance, replay(instance, range(len(instance.requests)), "fifo"))
    if instance.gpus.objective == "synchronous":
        total = found.components["total"]
        assert total <= found.objective * instance.gpus.count
        assert found.objective <= total


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


def test_plans_of_shared_caches_are_checked():
    instance = of_gpus(1, "shared", 6, order="given")
    good = run(instance, "order_search").solution
    assert evaluate(instance, good).objective == 76
    two, one = good.gpus
    for plans, constraint in (
        ((GpuPlan(held=((2,),)), one), "number_of_lists"),
        ((GpuPlan(held=two.held, evicted=((), ())), one), "number_of_lists"),
        ((GpuPlan(held=((2, 3), (2,))), one), "device_capacity"),
        ((GpuPlan(held=((1,), (2,))), one), "held_twice"),
        ((GpuPlan(held=((5,), (2,))), one), "held_is_not_there"),
        ((GpuPlan(held=((10**9,), (2,))), one), "held_is_not_there"),
        ((GpuPlan(held=two.held, preloaded=(10**9,)), one), "unknown_preload"),
    ):
        wrong = good.model_copy(update={"gpus": plans})
        assert constraint in {v.constraint for v in evaluate(instance, wrong).violations}
    # What a GPU neither held nor needed it gets for the cost of a peer.
    moved = good.model_copy(update={"gpus": (GpuPlan(held=((3,), (2,))), one)})
    found = evaluate(instance, moved)
    # Node 3 goes to GPU 0, 6, and from there to GPU 1, which needs it, 6, in place of a load, 10;
    # node 2 has to be loaded again, 10.
    assert (found.feasible, found.objective) == (True, 76 + 6 + 6 - 10 + 10)


def test_a_certificate_of_shared_caches_lists_no_more_ways_than_it_may():
    many = CacheInstance(
        requests=(tuple(range(20)),) * 3,
        capacity=9,
        order="given",
        gpus={"count": 2, "caches": "shared"},
    )
    with pytest.raises(ValueError, match=r"proof\.cost: .*ways"):
        check_bound(many, CacheCertificate(proof=EveryPlan(cost=1)))
    assert run(many, "order_search").status is Status.OPTIMAL


@pytest.mark.parametrize("caches", CACHES)
def test_models_refuse_caches_that_are_not_theirs(caches):
    wrong = "joint_gpus@highs" if caches == "shared" else "joint_shared@highs"
    assert run(of_gpus(1, caches), wrong).refused


def test_several_gpus_need_plain_batches():
    with pytest.raises(ValueError, match="gpus: expected none"):
        of_gpus(1, "private", batch_size=2)
    with pytest.raises(ValueError, match="peer_cost: 3, expected 0"):
        of_gpus(1, "private", 3)
    with pytest.raises(ValueError, match="peer_cost: 11, expected at most remote_cost, 10"):
        of_gpus(1, "shared", 11)
    for aim in ("total", "synchronous"):
        with pytest.raises(ValueError, match="policy_cost: expected none where caches are shared"):
            of_gpus(1, "shared", objective=aim, policy_cost=PolicyCosts())


def test_files_without_the_new_fields_stay_as_they_were():
    instance = of_gpus(1, "partitioned", 6)
    assert "objective" not in instance.model_dump()["gpus"]
    plan = run(instance, "order_search").solution
    assert all("held" not in one for one in plan.model_dump()["gpus"])


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
