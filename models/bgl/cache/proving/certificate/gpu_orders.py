r"""That no order of a few batches over several GPUs costs less, by going through all prefixes.

1. A state is which batches are done, and what each cache holds; the past matters no more. States
   advance by a whole step of D batches, each at its GPU; the last step may have fewer.
2. Where what leaves is free, a cache keeps as many as fit of what it holds, only nodes that a batch
   to come needs: holding more is never worse. Under a policy it keeps what the policy does, with
   the time of loading or of the last use of each node, for LFU the number of its uses, too.
3. A state whose cost, and one load of every node that is still needed and held nowhere, reach what
   is claimed is left out. The claim holds if none is left at the end. Where the slowest GPU of each
   step counts, it pays at least the mean of these loads.
4. A static cache keeps what it loaded first. Its cost is a sum over its nodes: the best are those
   that save the most, so that all orders are listed, of those that differ in the order of their
   steps only one. Where the slowest GPU of each step counts, it is no such sum (`static_caches`).
5. Shared caches hold every node at most once (`shared_caches`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations, permutations, product

from ...gpus import asked, cost_of_peers, peers_of_each, steps_of
from ...instance import CacheInstance, PolicyName
from .shared_caches import served_by_all
from .static_caches import no_static_below

#: Batches, and states in all, that a check goes through. By definition.
MOST_BATCHES, MOST_STATES = 8, 300_000

#: Nodes of a cache, under a policy with their uses or 0 first and then a time.
Held = tuple[tuple[int, int, int], ...]


def no_plan_below(instance: CacheInstance, cost: int) -> bool:
    """Return True if every order, with every retention or policy, costs at least so much.

    Raises
    ------
    ValueError
        If there are too many batches or states, or nodes differ in size.
    """
    if instance.order == "free" and len(instance.requests) > MOST_BATCHES:
        raise ValueError(
            f"{len(instance.requests)} batches, expected at most {MOST_BATCHES} to list all orders"
        )
    if not instance.unit_sizes:
        raise ValueError("nodes differ in size, expected all alike")
    if instance.policy_cost is None:
        return _none_below(instance, None, cost)
    dynamic: tuple[PolicyName, ...] = ("fifo", "lru", "lfu")
    if not all(_none_below(instance, policy, cost) for policy in dynamic):
        return False
    if instance.gpus is not None and instance.gpus.objective == "synchronous":
        return no_static_below(instance, cost)
    return all(_static_cost(instance, order) >= cost for order in _orders(instance))


def _none_below(instance: CacheInstance, policy: PolicyName | None, cost: int) -> bool:
    """Return True if no state is left at the end (steps 1 to 3)."""
    assert instance.gpus is not None, "the instance was checked"
    count, D = len(instance.requests), instance.gpus.count
    shared, total = instance.gpus.caches == "shared", instance.gpus.objective == "total"
    reached: dict[tuple[int, tuple[Held, ...]], int] = {(0, ((),) * D): 0}
    states = 0
    for _ in range(0, count, D):
        after: dict[tuple[int, tuple[Held, ...]], int] = {}
        for (done, caches), paid in reached.items():
            open_ = [t for t in range(count) if not done >> t & 1]
            chosen: Iterable[tuple[int, ...]] = permutations(open_, min(D, len(open_)))
            if instance.order == "given":
                chosen = [tuple(open_[:D])]
            for step in chosen:
                now = done | sum(1 << t for t in step)
                later = {v for t in open_ if t not in step for v in instance.requests[t]}
                if shared:
                    ways = served_by_all(instance, caches, step, later)
                else:
                    ways = _served_apart(instance, policy, caches, step, later)
                for held_now, costs in ways:
                    so_far = paid + (sum(costs) if total else max(costs))
                    there = {v for held in held_now for v, _, _ in held}
                    to_come = sum(instance.miss_cost(v) for v in later - there)
                    if so_far + (to_come if total else -(-to_come // D)) < cost:
                        state = now, held_now
                        after[state] = min(so_far, after.get(state, so_far))
        states += len(after)
        if states > MOST_STATES:
            raise ValueError(f"more than {MOST_STATES} states, expected fewer")
        reached = after
    return not reached


def _served_apart(
    instance: CacheInstance,
    policy: PolicyName | None,
    caches: tuple[Held, ...],
    step: tuple[int, ...],
    later: set[int],
) -> Iterator[tuple[tuple[Held, ...], list[int]]]:
    """Yield what caches may hold after a step, and what each GPU pays."""
    ways = [
        list(_served(instance, policy, held, nodes, later))
        for held, nodes in zip(caches, asked(instance, step), strict=True)
    ]
    peers = peers_of_each(instance, step)
    for way in product(*ways):
        costs = [paid + more for paid, (_, more) in zip(peers, way, strict=True)]
        yield tuple(held for held, _ in way), costs


def _served(
    instance: CacheInstance,
    policy: PolicyName | None,
    held: Held,
    nodes: tuple[int, ...],
    later: set[int],
) -> Iterator[tuple[Held, int]]:
    """Yield what a cache may hold after it was asked for nodes, and what that costs (step 2)."""
    there = {v for v, _, _ in held}
    missed = [v for v in nodes if v not in there]
    loads = sum(instance.miss_cost(v) for v in missed)
    K = instance.capacity
    if policy is None:
        useful = sorted((there | set(nodes)) & later)
        for kept in combinations(useful, min(K, len(useful))):
            yield tuple((v, 0, 0) for v in kept), loads
        return
    assert instance.policy_cost is not None, "a policy has a cost"
    running = instance.policy_cost.of(policy)
    key = {v: (uses, at) for v, uses, at in held}
    # Times only have to be in the right order: those of a batch follow all before it.
    at = max((at for _, at in key.values()), default=0)
    for v in nodes:
        if v in there and policy != "fifo":
            at += 1
            key[v] = (key[v][0] + (policy == "lfu"), at)
    left = 0
    for v in missed:
        at += 1
        if K == 0:
            left += 1
            continue
        if len(key) == K:
            del key[min(key, key=key.__getitem__)]
            left += 1
        key[v] = (int(policy == "lfu"), at)
    cost = loads + running.lookup * len(nodes) + running.hit * (len(nodes) - len(missed))
    cost += running.admit * len(missed) + running.evict * left
    # Ranks in place of times, and in place of nodes that are needed no more, so that caches that
    # will behave alike are one state.
    rank = {at: k for k, at in enumerate(sorted(at for _, at in key.values()), start=1)}
    alike = [(v if v in later else -rank[at], uses, rank[at]) for v, (uses, at) in key.items()]
    yield tuple(sorted(alike)), cost


def _orders(instance: CacheInstance) -> Iterator[tuple[int, ...]]:
    """Yield the orders, of those with the same full steps one; the given one alone (step 4)."""
    count = len(instance.requests)
    if instance.order == "given":
        yield tuple(range(count))
        return
    assert instance.gpus is not None, "the instance was checked"
    full = range(0, count - count % instance.gpus.count, instance.gpus.count)
    for order in permutations(range(count)):
        firsts = [order[k] for k in full]
        if firsts == sorted(firsts):
            yield order


def _static_cost(instance: CacheInstance, order: tuple[int, ...]) -> int:
    """Return the cost of an order with the best static cache of every GPU."""
    assert instance.policy_cost is not None, "a policy has a cost"
    running, c = instance.policy_cost.static, instance.remote_cost
    cost = cost_of_peers(instance, order)
    uses: list[Counter[int]] = [Counter() for _ in asked(instance, order[:1])]
    for step in steps_of(instance, order):
        for times, nodes in zip(uses, asked(instance, step), strict=True):
            times.update(nodes)
    for times in uses:
        w = {v: instance.weight(v) for v in times}
        cost += sum((c * w[v] + running.lookup) * k for v, k in times.items())
        saved = [(c * w[v] - running.hit) * k - c * w[v] - running.admit for v, k in times.items()]
        cost -= sum(sorted((s for s in saved if s > 0), reverse=True)[: instance.capacity])
    return cost
