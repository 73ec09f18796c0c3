"""Policies of several GPUs in steps that wait for the slowest: orders, static caches, certificates.

GADGETOPT_BGL=200 in the environment tries more random instances (default 60).
"""

import itertools
import os

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.bgl.cache.evaluate import evaluate
from gadgetopt.models.bgl.cache.instance import (
    CacheInstance,
    GpuPlan,
    Gpus,
    PolicyCosts,
    RunningCost,
)
from gadgetopt.models.bgl.cache.proving.certificate.check import (
    DYNAMIC,
    CacheCertificate,
    Compulsory,
    EachCache,
    EveryPlan,
    RunningPolicies,
    check_bound,
)
from gadgetopt.models.bgl.cache.proving.certificate.static_caches import no_static_below
from gadgetopt.models.bgl.cache.proving.exact.gpu_orders import best_of_each_policy
from gadgetopt.models.bgl.cache.proving.exact.policy_orders import cheapest_policy
from gadgetopt.models.bgl.cache.proving.exact.static_steps import best_static_of_steps
from gadgetopt.models.bgl.cache.subproblems.replay import replay, static
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, Status, Voucher

from ...brute_force import (
    POLICIES,
    cost_of_policy_on_gpus,
    objective,
    optimum_of_policies,
    run,
    small_policies,
)

TRIES = int(os.environ.get("GADGETOPT_BGL", "60"))
CACHES = ("private", "partitioned")
BATCHES = ((1, 2), (1, 3), (2, 4), (1, 3), (2, 5), (1, 4))
FREE_OF_CHARGE = PolicyCosts(**{name: RunningCost() for name in POLICIES})
#: The hand-checked batches over two GPUs, a miss costs 10, policies what they cost by default; by
#: caches, capacity and cost of peers: FIFO, LRU, LFU and static caches in the given order, then in
#: the best one of each, by the slowest GPU of each step.
TABLE = {
    ("private", 1, 0): ((65, 66, 71, 56), (53, 55, 60, 56)),
    ("partitioned", 1, 6): ((59, 61, 66, 62), (59, 61, 66, 62)),
    ("partitioned", 1, 1): ((54, 56, 61, 57), (53, 55, 60, 56)),
    ("private", 2, 0): ((52, 54, 58, 56), (52, 54, 58, 56)),
    ("partitioned", 2, 3): ((54, 56, 59, 59), (44, 46, 50, 59)),
}


def of_batches(caches, capacity, peers, order, **changed):
    gpus = {"count": 2, "caches": caches, "peer_cost": peers, "objective": "synchronous"}
    data = {"requests": BATCHES, "capacity": capacity, "remote_cost": 10, "order": order}
    return CacheInstance(**data | {"gpus": gpus, "policy_cost": PolicyCosts()} | changed)


def orders_of(instance):
    every = range(len(instance.requests))
    return [tuple(every)] if instance.order == "given" else list(itertools.permutations(every))


def best_plans(instance):
    return dict(best_of_each_policy(instance, Clock(Limits())))


def with_objective(instance, aim):
    gpus = instance.gpus.model_copy(update={"objective": aim})
    return instance.model_copy(update={"gpus": gpus})


def proved(instance, cost):
    return check_bound(instance, CacheCertificate(proof=EveryPlan(cost=cost)))


@pytest.mark.parametrize("key", TABLE)
def test_the_table_of_the_hand_checked_batches(key):
    for order, costs in zip(("given", "free"), TABLE[key], strict=True):
        instance = of_batches(*key, order)
        least = {
            policy: min(cost_of_policy_on_gpus(instance, o, policy) for o in orders_of(instance))
            for policy in POLICIES
        }
        assert tuple(least.values()) == costs
        plans = best_plans(instance)
        assert {policy: objective(instance, plan) for policy, plan in plans.items()} == least
        for method in ("order_search", "gpu_orders"):
            found = run(instance, method)
            assert (found.status, found.objective) == (Status.OPTIMAL, min(costs)), method
            assert found.bound_voucher is Voucher.VERIFIED


def test_policy_and_order_are_chosen_together():
    # The order given, the static cache costs less than FIFO; the order free, FIFO less.
    given, free = (run(of_batches("private", 1, 0, order), "order_search").solution.policy
                   for order in ("given", "free"))  # fmt: skip
    assert (given, free) == ("static", "fifo")


@pytest.mark.parametrize("caches", CACHES)
@pytest.mark.parametrize("seed", range(TRIES))
def test_search_and_check_agree_with_all_orders_and_policies(seed, caches):
    instance = small_policies(np.random.default_rng(seed), caches, "synchronous")
    orders = orders_of(instance)
    least = {p: min(cost_of_policy_on_gpus(instance, o, p) for o in orders) for p in POLICIES}
    plans = best_plans(instance)
    assert {policy: objective(instance, plan) for policy, plan in plans.items()} == least
    assert no_static_below(instance, least["static"])
    assert not no_static_below(instance, least["static"] + 1)
    best = optimum_of_policies(instance)
    assert best == min(least.values())
    for method in ("order_search", "gpu_orders"):
        found = run(instance, method)
        assert (found.status, found.objective) == (Status.OPTIMAL, best), method
        assert found.bound_voucher is Voucher.VERIFIED
        assert found.evaluation.components["total"] >= best
    for cost in (best - 1, best, best + 1, 2 * best + 1):
        if cost >= 0:
            assert proved(instance, cost) == (cost if cost <= best else None)
    assert check_bound(instance, CacheCertificate(proof=Compulsory())) <= best


@pytest.mark.parametrize("caches", CACHES)
@pytest.mark.parametrize("seed", range(TRIES))
def test_the_evaluator_replays_what_every_policy_costs(seed, caches):
    instance = small_policies(np.random.default_rng(seed), caches, "synchronous")
    rng = np.random.default_rng(seed)
    order = tuple(range(len(instance.requests)))
    if instance.order == "free":
        order = tuple(rng.permutation(len(order)).tolist())
    for policy in DYNAMIC:
        plan = replay(instance, order, policy)
        assert objective(instance, plan) == cost_of_policy_on_gpus(instance, order, policy)
        # What policies cost is all that is added to the loads.
        free = instance.model_copy(update={"policy_cost": FREE_OF_CHARGE})
        none = instance.model_copy(update={"policy_cost": None})
        loads = objective(none, plan.model_copy(update={"policy": None}))
        assert objective(free, plan) == loads
    ranked = rng.permutation(sorted(instance.frequency)).tolist()
    kept = static(instance, order, ranked)
    assert objective(instance, kept) >= cost_of_policy_on_gpus(instance, order, "static")


@pytest.mark.parametrize("caches", CACHES)
@pytest.mark.parametrize("seed", range(TRIES))
def test_perturbed_plans_are_not_what_a_policy_does(seed, caches):
    rng = np.random.default_rng(seed)
    instance = small_policies(rng, caches, "synchronous")
    order = tuple(range(len(instance.requests)))
    for policy in POLICIES:
        if policy == "static":
            plan = static(instance, order, sorted(instance.frequency))
        else:
            plan = replay(instance, order, policy)
        assert evaluate(instance, plan).feasible
        nameless = plan.model_copy(update={"policy": None})
        assert not evaluate(instance, nameless).feasible
        for g, one in enumerate(plan.gpus):
            for p, gone in enumerate(one.evicted):
                v = int(rng.choice(sorted(instance.frequency)))
                toggled = tuple(sorted({*gone} ^ {v}))
                lists = (*one.evicted[:p], toggled, *one.evicted[p + 1 :])
                wrong = one.model_copy(update={"evicted": lists})
                gpus = (*plan.gpus[:g], wrong, *plan.gpus[g + 1 :])
                assert not evaluate(instance, plan.model_copy(update={"gpus": gpus})).feasible
            if policy != "static":
                busy = one.model_copy(update={"preloaded": (min(instance.frequency),)})
                gpus = (*plan.gpus[:g], busy, *plan.gpus[g + 1 :])
                assert not evaluate(instance, plan.model_copy(update={"gpus": gpus})).feasible


@pytest.mark.parametrize("seed", range(20))
def test_where_one_gpu_does_all_the_slowest_is_the_total(seed):
    rng = np.random.default_rng(seed)
    instance = small_policies(rng, "partitioned", "synchronous")
    D = instance.gpus.count
    gpus = instance.gpus.model_copy(update={"peer_cost": 0})
    # Only nodes of GPU 0, so that all wait for it.
    requests = tuple(tuple(v * D for v in nodes) for nodes in instance.requests)
    alone = instance.model_copy(update={"requests": requests, "gpus": gpus, "weights": None})
    alone = CacheInstance(**alone.model_dump())
    total = with_objective(alone, "total")
    slowest, all_pay = best_plans(alone), best_plans(total)
    for policy in POLICIES:
        assert objective(alone, slowest[policy]) == objective(total, all_pay[policy])
        assert objective(total, slowest[policy]) == objective(total, all_pay[policy])


@pytest.mark.parametrize("caches", CACHES)
@pytest.mark.parametrize("seed", range(20))
def test_one_gpu_costs_what_one_cache_does(seed, caches):
    instance = small_policies(np.random.default_rng(seed), caches, "synchronous")
    # Files have two GPUs at least; here one, past the check of the file.
    one = Gpus.model_construct(count=1, caches=caches, peer_cost=0, objective="synchronous")
    alone = instance.model_copy(update={"gpus": one})
    cache = instance.model_copy(update={"gpus": None})
    least = min(objective(alone, plan) for plan in best_plans(alone).values())
    assert least == objective(cache, cheapest_policy(cache, Clock(Limits())))
    assert proved(alone, least) == least
    assert proved(alone, least + 1) is None
    order = tuple(range(len(instance.requests)))
    for policy in DYNAMIC:
        both = [objective(i, replay(i, order, policy)) for i in (alone, cache)]
        assert both[0] == both[1]


def test_a_gpu_that_is_asked_for_nothing_pays_nothing():
    # Three batches over two GPUs: in the last step GPU 1 has none. One place each, an eviction is
    # 100. GPU 0: node 1, then 1 again, no eviction; GPU 1: node 2 once. Step 1 costs a lookup, a
    # load and an admission, 12; step 2 a lookup, 1.
    dear = RunningCost(lookup=1, admit=1, evict=100)
    instance = CacheInstance(
        requests=((1,), (2,), (1,)),
        capacity=1,
        order="given",
        remote_cost=10,
        gpus={"count": 2, "caches": "private", "objective": "synchronous"},
        policy_cost=PolicyCosts(fifo=dear, lru=dear, lfu=dear, static=dear),
    )
    for policy in DYNAMIC:
        assert objective(instance, replay(instance, (0, 1, 2), policy)) == 13
    best = run(instance, "order_search")
    assert (best.objective, best.status) == (13, Status.OPTIMAL)
    # Partitioned: GPU 1 is asked in the first step only, as no batch of the second has odd nodes.
    apart = CacheInstance(
        requests=((1, 2), (2, 3), (2,), (2, 4)),
        capacity=1,
        order="given",
        remote_cost=10,
        gpus={"count": 2, "caches": "partitioned", "objective": "synchronous"},
        policy_cost=PolicyCosts(fifo=dear, lru=dear, lfu=dear, static=dear),
    )
    # GPU 1: two lookups, loads, admissions and an eviction, 124. Then GPU 0: two lookups, a load,
    # an admission and an eviction, 113.
    for policy in DYNAMIC:
        cost = objective(apart, replay(apart, (0, 1, 2, 3), policy))
        assert cost == cost_of_policy_on_gpus(apart, (0, 1, 2, 3), policy) == 124 + 113


def test_lies_about_the_least_cost_are_refused():
    # In the given order FIFO costs 65, the static cache 56; in the best order FIFO 53.
    given, free = (of_batches("private", 1, 0, order) for order in ("given", "free"))
    for instance, best in ((given, 56), (free, 53)):
        assert proved(instance, best) == best
        for cost in (best + 1, 65, 10**30):
            assert proved(instance, cost) is None
    # What proves one instance does not prove one that differs in a cost, an order or what counts.
    cheap = PolicyCosts(static=RunningCost())
    assert proved(given.model_copy(update={"policy_cost": cheap}), 56) is None
    assert proved(given.model_copy(update={"capacity": 2}), 56) is None
    assert proved(given.model_copy(update={"order": "free"}), 56) is None
    apart = given.gpus.model_copy(update={"caches": "partitioned"})
    assert proved(given.model_copy(update={"gpus": apart}), 56) is None
    for proof in (RunningPolicies(reloads=0), EachCache(caches=())):
        with pytest.raises(ValueError, match=r"proof\.kind"):
            check_bound(given, CacheCertificate(proof=proof))


def test_too_many_static_caches_are_refused_in_one_line():
    requests = tuple(tuple(range(k % 3, 40, 3)) for k in range(8))
    many = of_batches("private", 8, 0, "given", requests=requests)
    with pytest.raises(ModelRefused, match="at most 400000 are listed"):
        best_static_of_steps(many, Clock(Limits()))
    with pytest.raises(ValueError, match=r"proof\.cost: .* static caches .* at most 400000"):
        proved(many, 1)
    assert "at most 400000" in run(many, "gpu_orders").reason
    found = run(many, "order_search")
    assert found.status is Status.FEASIBLE
    assert found.bound <= found.objective
    # What is not worth holding is not counted: every node is asked for once.
    once = of_batches("private", 8, 0, "given", requests=(tuple(range(40)),) * 2)
    assert run(once, "order_search").status is Status.OPTIMAL


def test_costs_beyond_64_bits_are_exact():
    small = of_batches("private", 1, 0, "free", policy_cost=FREE_OF_CHARGE)
    large = small.model_copy(update={"remote_cost": 10**30})
    for plan in best_plans(small).values():
        assert objective(large, plan) == objective(small, plan) * 10**29
    best = run(small, "order_search").objective
    assert objective(large, best_static_of_steps(large, Clock(Limits()))) % 10**29 == 0
    assert proved(large, best * 10**29) == best * 10**29
    assert proved(large, best * 10**29 + 1) is None


@pytest.mark.parametrize("order", ["given", "free"])
@pytest.mark.parametrize(
    "method",
    ["joint@highs", "joint_gpus@highs", "joint_shared@highs", "cp_joint", "policy_orders"],
)
def test_models_that_decide_what_leaves_refuse_in_one_line(method, order):
    found = run(of_batches("partitioned", 1, 6, order), method)
    assert found.refused
    assert "\n" not in found.reason
    assert found.reason.startswith(("policy_cost: ", "gpus: ", "order: "))


def test_plans_of_policies_on_several_gpus_are_checked():
    instance = of_batches("private", 1, 0, "given")
    good = run(instance, "order_search").solution
    assert (good.policy, [one.preloaded for one in good.gpus]) == ("static", [(2,), (1,)])
    other = GpuPlan(evicted=good.gpus[0].evicted, preloaded=(4,))
    for changed in (
        {"policy": "fifo"},
        {"gpus": (good.gpus[0],)},
        {"gpus": (other, good.gpus[1])},
        {"gpus": (GpuPlan(evicted=good.gpus[0].evicted, preloaded=(2, 4)), good.gpus[1])},
    ):
        assert not evaluate(instance, good.model_copy(update=changed)).feasible
