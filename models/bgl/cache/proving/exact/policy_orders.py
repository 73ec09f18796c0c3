r"""Policy and order together, where policies cost something to run.

A static cache costs the same in every order, so the best one is a sort. For each other policy:

1. After a set of batches, in whatever order, what counts is what the cache holds, in the order of
   loading (FIFO) or of the last use (LRU, LFU), and for LFU how often each was used. A node that no
   batch to come needs is only a place that is taken, so all such nodes are alike.
2. A batch that is not in the set notes its hits, then takes in its other nodes, each of which lets
   the first node leave if the cache is full, for LFU the first of the fewest uses.
3. Of equal states of a set the one of the fewest misses is kept: the cost is the same function of
   the misses for all orders. Where a miss saves money, as a hit costs more, the most are kept.
"""

from __future__ import annotations

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import OWN_LIMIT, Limits, MethodOutcome

from ...evaluate import evaluate
from ...instance import CacheInstance, CacheSolution
from ...subproblems.replay import Policy, replay, static
from ..certificate.check import (
    DYNAMIC,
    CacheCertificate,
    RunningPolicies,
    best_static,
    miss_cost,
)
from ..reload_tables import OutOfTimeError

#: States of a policy, some 0.5 GB, and batches whose sets are listed: what fits into memory.
#: By definition.
_MOST_STATES, _MOST_BATCHES = 10**6, 12

#: Stands for a node that no batch to come needs. By definition.
DEAD = -1

#: What a cache holds, first what was loaded or used the longest ago, with the number of uses.
Held = tuple[tuple[int, int], ...]
#: Misses, signed so that fewer are better, what was held before the last batch, and that batch.
Reached = tuple[int, Held, int]


@method(kind="exact", reference="this project", formulation="policy_states")
def policy_orders(instance: CacheInstance, limits: Limits) -> MethodOutcome:
    """All sets of batches with all contents of the cache, for every policy.

    Return the policy and the order of the least cost, of at most 12 batches.

    Raises
    ------
    ModelRefused
        If policies cost nothing to run, or there are too many batches.
    """
    clock = Clock(limits)
    try:
        solution = cheapest_policy(instance, clock)
    except OutOfTimeError:
        return MethodOutcome(
            certificate=CacheCertificate(proof=RunningPolicies(reloads=0)),
            limit_hit="time_s" if clock.expired else OWN_LIMIT,
        )
    cost = evaluate(instance, solution).objective
    return MethodOutcome(
        solution=solution, claimed_objective=cost, dual_bound=cost, phases_s=clock.phases_s
    )


def cheapest_policy(instance: CacheInstance, clock: Clock) -> CacheSolution:
    """Return the solution of the least cost over all policies and orders.

    Raises
    ------
    ModelRefused
        If policies cost nothing to run, or there are too many batches.
    OutOfTimeError
        If the time is up, or there are too many states.
    """
    if instance.gpus is not None:
        raise ModelRefused("gpus: several, this method is of one cache")
    if instance.policy_cost is None:
        raise ModelRefused("policy_cost: none, but policies are compared by what they cost")
    count = instance.num_batches
    if instance.order == "free" and count > _MOST_BATCHES:
        raise ModelRefused(f"requests: {count} batches, sets of at most {_MOST_BATCHES} are listed")
    found = [static(instance, range(count), best_static(instance))]
    for policy in DYNAMIC:
        order = list(range(count))
        if instance.order == "free":
            order = _best_order(instance, policy, clock)
        found.append(replay(instance, order, policy))
    return min(found, key=lambda solution: evaluate(instance, solution).objective or 0)


def _best_order(instance: CacheInstance, policy: Policy, clock: Clock) -> list[int]:
    """Return an order of the least cost of a policy (steps 1 to 3)."""
    assert instance.policy_cost is not None, "the policy has a cost"
    cost = instance.policy_cost.of(policy)
    sign = 1 if miss_cost(instance) + cost.admit + cost.evict >= cost.hit else -1
    batches = instance.requests
    M, left = len(batches), _MOST_STATES
    layers: list[dict[int, dict[Held, Reached]]] = [{0: {(): (0, (), -1)}}]
    for _ in range(M):
        after: dict[int, dict[Held, Reached]] = {}
        for done, states in layers[-1].items():
            for b in range(M):
                if done >> b & 1:
                    continue
                now = done | 1 << b
                later = {v for k in range(M) if not now >> k & 1 for v in batches[k]}
                found = after.setdefault(now, {})
                before = len(found)
                for held, (misses, _, _) in states.items():
                    if clock.expired or left < 0:
                        raise OutOfTimeError
                    then, more = after_batch(policy, held, batches[b], instance.capacity)
                    then = tuple((v if v in later else DEAD, n) for v, n in then)
                    total = misses + sign * more
                    if then not in found or total < found[then][0]:
                        found[then] = total, held, b
                left -= len(found) - before
        layers.append(after)
    done = (1 << M) - 1
    held = min(layers[-1][done], key=lambda state: layers[-1][done][state][0])
    order = []
    for layer in reversed(layers[1:]):
        _, held, b = layer[done][held]
        order.append(b)
        done &= ~(1 << b)
    return order[::-1]


def after_batch(
    policy: Policy, held: Held, batch: tuple[int, ...], capacity: int
) -> tuple[Held, int]:
    """Return what a cache holds after a batch, and the batch's misses (step 2)."""
    cache = list(held)
    there = {v for v, _ in held}
    hits = [v for v in batch if v in there]
    if policy != "fifo":
        for v in hits:
            k = next(k for k, (u, _) in enumerate(cache) if u == v)
            _, uses = cache.pop(k)
            cache.append((v, uses + 1 if policy == "lfu" else 1))
    for v in batch:
        if v in there or capacity == 0:
            continue
        if len(cache) == capacity:
            cache.pop(min(range(capacity), key=lambda k: cache[k][1]))
        cache.append((v, 1))
    return tuple(cache), len(batch) - len(hits)
