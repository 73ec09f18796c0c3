"""The first witness: every order and every way of keeping features, and small random instances."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
from hypothesis import strategies as st

from gadgetopt.models.bgl.cache.evaluate import evaluate
from gadgetopt.models.bgl.cache.instance import CacheInstance, CacheSolution
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.run import solve


def optimum(instance: CacheInstance) -> int:
    """The least cost of all orders and of all contents of the caches, or of all policies."""
    if instance.gpus is not None and instance.policy_cost is not None:
        return optimum_of_policies(instance)
    n = len(instance.requests)
    orders = [tuple(range(n))] if instance.order == "given" else itertools.permutations(range(n))
    if instance.gpus is not None:
        return min(_of_gpus(instance, o) for o in orders)
    return min(_retention(instance, tuple(map(tuple, instance.batches(o)))) for o in orders)


def asked_of_gpus(
    instance: CacheInstance, order: tuple[int, ...]
) -> tuple[list[tuple[tuple[int, ...], ...]], int]:
    """What every GPU's cache is asked for, without empty lists, and what other GPUs' nodes cost."""
    D, private = instance.gpus.count, instance.gpus.caches != "partitioned"
    asked = [[] for _ in range(D)]
    peers = 0
    for start in range(0, len(order), D):
        needed = [set() for _ in range(D)]
        for gpu, t in enumerate(order[start : start + D]):
            for v in instance.requests[t]:
                home = gpu if private else v % D
                needed[home].add(v)
                if home != gpu:
                    peers += instance.gpus.peer_cost * instance.weight(v)
        for gpu, nodes in enumerate(needed):
            if nodes:
                asked[gpu].append(tuple(sorted(nodes)))
    return [tuple(lists) for lists in asked], peers


def _of_gpus(instance: CacheInstance, order: tuple[int, ...]) -> int:
    if instance.gpus.caches == "shared" or instance.gpus.objective == "synchronous":
        return _step_by_step(instance, order)
    asked, peers = asked_of_gpus(instance, order)
    return peers + sum(_retention(instance, lists) for lists in asked if lists)


def _step_by_step(instance: CacheInstance, order: tuple[int, ...]) -> int:
    """Try all that GPUs may hold after every step, of nodes that are needed again."""
    D, caches = instance.gpus.count, instance.gpus.caches
    peer_cost, remote_cost = instance.gpus.peer_cost, instance.remote_cost
    steps = [order[k : k + D] for k in range(0, len(order), D)]
    all_pay = sum if instance.gpus.objective == "total" else max

    def weight(v):
        return 1 if instance.weights is None else instance.weights[v]

    @cache
    def cost(p: int, held: tuple[frozenset[int], ...]) -> int:
        if p == len(steps):
            return 0
        needs = [set(instance.requests[t]) for t in steps[p]]
        needs += [set()] * (D - len(needs))
        paid, has = [0] * D, [set(nodes) for nodes in held]
        anywhere = set().union(*held)
        for v in sorted(set().union(*needs)):
            users = [g for g in range(D) if v in needs[g]]
            if caches == "private":
                for g in users:
                    paid[g] += remote_cost * weight(v) * (v not in held[g])
                    has[g].add(v)
            elif caches == "partitioned":
                home = v % D
                paid[home] += remote_cost * weight(v) * (v not in held[home])
                has[home].add(v)
                for g in users:
                    paid[g] += peer_cost * weight(v) * (g != home)
            else:
                getting = [g for g in users if v not in held[g]]
                if v not in anywhere:
                    paid[getting.pop(0)] += remote_cost * weight(v)
                for g in getting:
                    paid[g] += peer_cost * weight(v)
                for g in users:
                    has[g].add(v)
        later = {v for step in steps[p + 1 :] for t in step for v in instance.requests[t]}
        if caches != "shared":
            ways = itertools.product(
                *(
                    _subsets(sorted(nodes & later), instance.size, instance.capacity)
                    for nodes in has
                )
            )
            return all_pay(paid) + min(cost(p + 1, tuple(way)) for way in ways)
        best = None
        there = sorted(set().union(*has) & later)
        for places in itertools.product(range(-1, D), repeat=len(there)):
            kept = [{v for v, g in zip(there, places, strict=True) if g == d} for d in range(D)]
            if any(sum(map(instance.size, nodes)) > instance.capacity for nodes in kept):
                continue
            total = [
                paid[d] + sum(peer_cost * weight(v) for v in kept[d] - has[d]) for d in range(D)
            ]
            found = all_pay(total) + cost(p + 1, tuple(map(frozenset, kept)))
            best = found if best is None else min(best, found)
        return best

    return cost(0, (frozenset(),) * D)


def _subsets(nodes, size_of, capacity):
    for k in range(len(nodes) + 1):
        for chosen in itertools.combinations(nodes, k):
            if sum(map(size_of, chosen)) <= capacity:
                yield frozenset(chosen)


def _retention(instance: CacheInstance, batches: tuple[tuple[int, ...], ...]) -> int:
    """Try all contents of the caches after every batch, only nodes that are needed again."""

    @cache
    def cost(p: int, device: frozenset[int], host: frozenset[int]) -> int:
        if p == len(batches):
            return 0
        loaded = sum(
            0
            if v in device
            else instance.host_cost * instance.weight(v)
            if v in host
            else instance.remote_cost * instance.weight(v)
            for v in batches[p]
        )
        later = {v for nodes in batches[p + 1 :] for v in nodes}
        there = (device | set(batches[p])) & later
        rest = (host - set(batches[p])) & later
        return loaded + min(
            cost(p + 1, kept, moved)
            for kept in _subsets(sorted(there), instance.size, instance.capacity)
            for moved in _subsets(
                sorted((there - kept) | rest), instance.size, instance.host_capacity
            )
        )

    return cost(0, frozenset(), frozenset())


def small_instance(rng: np.random.Generator, kind: str = "any") -> CacheInstance:
    """A few batches of a few nodes; kinds: given, free, weights, sizes, host, grouped, gpus.

    The kind `gpus` has caches apart and the total; `any_gpus` also shared ones and slowest GPUs.
    """
    if kind == "any":
        kind = str(rng.choice(["given", "free", "weights", "sizes", "host", "grouped"]))
    nodes = int(rng.integers(2, 6 if kind == "host" else 7))
    most = {"given": 7, "weights": 7, "sizes": 6, "host": 5, "grouped": 5}.get(kind, 6)
    requests = tuple(
        tuple(sorted(rng.choice(nodes, size=rng.integers(1, min(nodes, 4) + 1), replace=False)))
        for _ in range(int(rng.integers(1, most)))
    )
    requests = tuple(tuple(map(int, chosen)) for chosen in requests)
    data = {"requests": requests, "capacity": int(rng.integers(0, 5)), "order": "given"}
    if kind in ("free", "grouped") or (kind in ("weights", "sizes") and rng.random() < 0.5):
        data["order"] = "free"
    if kind == "grouped":
        data["batch_size"] = 2
    if kind == "weights":
        data["weights"] = tuple(rng.integers(1, 9, size=nodes).tolist())
    if kind == "sizes":
        data["sizes"] = tuple(rng.integers(1, 4, size=nodes).tolist())
    if kind in ("gpus", "any_gpus"):
        private, cost = bool(rng.random() < 0.5), int(rng.integers(1, 9))
        peers = 0 if private else int(rng.integers(0, 6))
        caches = "private" if private else "partitioned"
        gpus = {"count": int(rng.integers(2, 4)), "caches": caches, "peer_cost": peers}
        data |= {"order": str(rng.choice(["given", "free"])), "remote_cost": cost, "gpus": gpus}
        data |= {"capacity": int(rng.integers(0, 3))}
        if kind == "any_gpus":
            gpus["objective"] = str(rng.choice(["total", "synchronous"]))
            if private and rng.random() < 0.7:
                gpus |= {"caches": "shared", "peer_cost": int(rng.integers(0, cost + 1))}
        if rng.random() < 0.3:
            data["weights"] = tuple(rng.integers(1, 9, size=nodes).tolist())
    if kind == "host":
        data |= {"remote_cost": 5, "host_cost": int(rng.integers(0, 5))}
        data |= {"host_capacity": int(rng.integers(1, 3)), "capacity": int(rng.integers(0, 3))}
    return CacheInstance(**data)


@st.composite
def small_instances(draw: st.DrawFn, kind: str = "any") -> CacheInstance:
    return small_instance(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), kind)


def objective(instance: CacheInstance, solution: CacheSolution) -> int:
    found = evaluate(instance, solution)
    assert found.feasible, found.violations
    return found.objective


def run(instance: CacheInstance, method: str, time_s: float = 60, seed: int = 0) -> Result:
    """What the toolkit makes of a method on an instance."""
    document = Document(problem("bgl_cache"), "instance", "test", instance)
    return solve(document, method, Limits(time_s=time_s), seed=seed)


POLICIES = ("fifo", "lru", "lfu", "static")


def optimum_of_policies(instance: CacheInstance) -> int:
    """The least cost of all orders and policies of several GPUs, and all static caches."""
    n = len(instance.requests)
    orders = [tuple(range(n))] if instance.order == "given" else itertools.permutations(range(n))
    return min(cost_of_policy_on_gpus(instance, o, p) for o in orders for p in POLICIES)


def cost_of_policy_on_gpus(instance: CacheInstance, order: tuple[int, ...], policy: str) -> int:
    """What an order costs with a policy on every GPU; a static cache as it is best for it."""
    steps = _paid_for_peers_and_asked(instance, order)
    if policy != "static":
        return _with_policy(instance, steps, policy)
    asked = [sorted({v for _, lists in steps for v in lists[d]}) for d in range(_count(instance))]
    sets = [list(_subsets(nodes, lambda v: 1, instance.capacity)) for nodes in asked]
    return min(_with_static(instance, steps, held) for held in itertools.product(*sets))


def _count(instance):
    return instance.gpus.count


def _paid_for_peers_and_asked(instance, order):
    """What each GPU pays for peers in a step, and what its cache is asked for."""
    D, steps = _count(instance), []
    for start in range(0, len(order), D):
        peers, asked = [0] * D, [set() for _ in range(D)]
        for g, t in enumerate(order[start : start + D]):
            for v in instance.requests[t]:
                home = g if instance.gpus.caches == "private" else v % D
                asked[home].add(v)
                w = 1 if instance.weights is None else instance.weights[v]
                peers[g] += instance.gpus.peer_cost * w * (home != g)
        steps.append((peers, [sorted(nodes) for nodes in asked]))
    return steps


def _load(instance, v):
    return instance.remote_cost * (1 if instance.weights is None else instance.weights[v])


def _all_pay(instance, paid_in_steps):
    pay = sum if instance.gpus.objective == "total" else max
    return sum(map(pay, paid_in_steps))


def _with_static(instance, steps, held):
    running = instance.policy_cost.static
    first = sum(_load(instance, v) + running.admit for nodes in held for v in nodes)
    paid = [
        [
            more
            + sum(
                running.lookup + (running.hit if v in kept else _load(instance, v)) for v in nodes
            )
            for more, nodes, kept in zip(peers, asked, held, strict=True)
        ]
        for peers, asked in steps
    ]
    return first + _all_pay(instance, paid)


def _with_policy(instance, steps, policy):
    """Every cache as a list, first what leaves first, for LFU of the fewest uses."""
    running = getattr(instance.policy_cost, policy)
    caches = [[] for _ in range(_count(instance))]
    uses = [{} for _ in caches]
    paid_in_steps = []
    for peers, asked in steps:
        paid = list(peers)
        for g, nodes in enumerate(asked):
            cache, times = caches[g], uses[g]
            hits = [v for v in nodes if v in cache]
            paid[g] += running.lookup * len(nodes)
            for v in hits:
                paid[g] += running.hit
                times[v] += 1
                if policy != "fifo":
                    cache.remove(v)
                    cache.append(v)
            for v in nodes:
                if v in hits:
                    continue
                paid[g] += _load(instance, v) + running.admit
                times[v] = 1
                if len(cache) == instance.capacity:
                    gone = v
                    if cache:
                        gone = min(cache, key=times.get) if policy == "lfu" else cache[0]
                        cache.remove(gone)
                    paid[g] += running.evict
                    if gone == v:
                        continue
                cache.append(v)
        paid_in_steps.append(paid)
    return _all_pay(instance, paid_in_steps)


def small_policies(rng: np.random.Generator, caches: str, aim: str) -> CacheInstance:
    """A few batches over several GPUs whose policies cost something to run."""
    D, nodes = int(rng.integers(2, 4)), int(rng.integers(2, 6))
    requests = tuple(
        tuple(sorted(map(int, rng.choice(nodes, rng.integers(1, min(nodes, 3) + 1), False))))
        for _ in range(int(rng.integers(1, 6)))
    )
    costs = {
        name: dict(
            zip(
                ("lookup", "hit", "admit", "evict"),
                rng.integers(0, 4, size=4).tolist(),
                strict=True,
            )
        )
        for name in POLICIES
    }
    gpus = {"count": D, "caches": caches, "objective": aim}
    gpus["peer_cost"] = 0 if caches == "private" else int(rng.integers(0, 6))
    return CacheInstance(
        requests=requests,
        capacity=int(rng.integers(0, 3)),
        order=str(rng.choice(["given", "free"])),
        remote_cost=int(rng.integers(1, 9)),
        weights=(int(rng.integers(1, 4)),) * nodes if rng.random() < 0.3 else None,
        gpus=gpus,
        policy_cost=costs,
    )
