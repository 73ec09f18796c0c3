r"""The evaluator: the cost of loading features, from the order and the evictions alone.

Batches are processed one by one. A node of a batch costs nothing if the device holds it, its weight
times `host_cost` if the host does, and its weight times `remote_cost` otherwise. Then the device
holds it. Between two batches the device and the host hold no more than their capacities. Features
that are loaded before the first batch cost as much as misses.

Where policies cost something to run, the solution names one, and what it evicts is what that policy
does: hits are noted first, in ascending order of the nodes, then the other nodes are taken in, and
before each one that finds the cache full the node of the least key leaves. The key is the time of
loading (FIFO), of the last use (LRU), or the uses since loading and then the last one (LFU). A
static cache keeps what was preloaded and takes nothing in.

Of several GPUs each cache is judged by itself, with what the order asks of it (`gpus`), and what
batches need from other GPUs is added. Shared caches, and steps whose slowest GPU counts, are
replayed step by step; what a policy costs to run is paid in the step by the GPU whose cache is
asked, and what a static cache costs to fill before the first one, by all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from gadgetopt.system.result import Evaluation, Violation

from .gpus import asked, cache_of_each, cost_of_peers, peers_of_each, steps_of
from .instance import CacheInstance, CacheSolution, PolicyName


def evaluate(instance: CacheInstance, solution: CacheSolution) -> Evaluation:
    """Replay a solution and count what it loads.

    Returns
    -------
    Evaluation
        The objective is the cost of misses, hits of the host and preloads; None if the order does
        not process every request once. Components: number of requested nodes, misses, hits on host
        and device, preloads, and the cost without preloads.
    """
    wrong = tuple(_order_violations(instance, solution))
    if wrong:
        return Evaluation(None, wrong)
    if instance.gpus is not None:
        shared = instance.gpus.caches == "shared"
        return (_of_shared if shared else _of_all_gpus)(instance, solution)
    device, host = set(solution.preloaded), set()  # type: set[int], set[int]
    preload_cost = sum(instance.miss_cost(v) for v in solution.preloaded if v in instance.frequency)
    violations = [
        Violation("unknown_preload", f"preloaded node {v}", 1)
        for v in solution.preloaded
        if v not in instance.frequency
    ]
    violations += _overfull(instance, device, instance.capacity, "preloaded", "device")
    requested = misses = host_hits = cost = 0
    batches = instance.batches(solution.order)
    for p, batch in enumerate(batches):
        requested += len(batch)
        for v in batch:
            if v in device:
                continue
            if v in host:
                host_hits += 1
                cost += instance.host_cost * instance.weight(v)
                host.discard(v)
            else:
                misses += 1
                cost += instance.miss_cost(v)
        device.update(batch)
        if p < len(batches) - 1:
            violations += _retain(instance, solution, p, device, host)
    if (instance.policy_cost is None) != (solution.policy is None):
        wanted = "a policy" if instance.policy_cost else "no policy"
        violations.append(Violation("policy", f"policy, expected {wanted}", 1))
        return Evaluation(None, tuple(violations))
    components = {
        "requested": requested,
        "misses": misses,
        "host_hits": host_hits,
        "device_hits": requested - misses - host_hits,
        "preloads": len(solution.preloaded),
        "cost_without_preloads": cost,
    }
    if solution.policy is not None:
        violations += _departures(instance, solution, solution.policy, batches)
        running = _running_cost(instance, solution, solution.policy, requested, misses)
        components["running_cost"] = running
        cost += running
    return Evaluation(cost + preload_cost, tuple(violations), components)


def _of_all_gpus(instance: CacheInstance, solution: CacheSolution) -> Evaluation:
    """Judge each GPU's cache by itself and add what is fetched from other GPUs."""
    peers = cost_of_peers(instance, solution.order)
    cost: int | None = peers
    violations: list[Violation] = []
    components: Counter[str] = Counter()
    caches = cache_of_each(instance, solution.order)
    for d, (cache, plan) in enumerate(zip(caches, solution.gpus, strict=True)):
        if cache is None:
            if plan.evicted or plan.preloaded:
                violations.append(Violation("nothing_is_asked", f"gpus[{d}]", 1))
            continue
        own = CacheSolution(
            order=tuple(range(len(cache.requests))),
            evicted=plan.evicted,
            preloaded=plan.preloaded,
            policy=solution.policy,
        )
        found = evaluate(cache, own)
        violations += [
            Violation(v.constraint, f"gpus[{d}] {v.where}", v.amount) for v in found.violations
        ]
        components.update({name: int(value) for name, value in found.components.items()})
        worth = found.objective
        cost = None if cost is None or worth is None else cost + int(worth)
    if cost is None:
        return Evaluation(None, tuple(violations))
    parts = {**components, "cost_of_peers": peers}
    if instance.gpus is not None and instance.gpus.objective == "synchronous":
        slowest = _slowest(instance, solution)
        return Evaluation(slowest, tuple(violations), {**parts, "total": cost})
    return Evaluation(cost, tuple(violations), parts)


def _slowest(instance: CacheInstance, solution: CacheSolution) -> int:
    """Return what is loaded first and what the slowest GPU pays in each step, unless shared."""
    held = [set(plan.preloaded) for plan in solution.gpus]
    paid = _cost_of_preloads(instance, solution)
    running = None
    if instance.policy_cost is not None and solution.policy is not None:
        running = instance.policy_cost.of(solution.policy)
        paid += running.admit * sum(len(plan.preloaded) for plan in solution.gpus)
    leaving = [iter(plan.evicted) for plan in solution.gpus]
    for step in steps_of(instance, solution.order):
        costs = peers_of_each(instance, step)
        for d, nodes in enumerate(asked(instance, step)):
            # A cache that is asked for nothing does nothing: what it held it still holds.
            if not nodes:
                continue
            missed = [v for v in nodes if v not in held[d]]
            costs[d] += sum(map(instance.miss_cost, missed))
            if running is not None:
                costs[d] += running.lookup * len(nodes) + running.hit * (len(nodes) - len(missed))
            if running is not None and solution.policy != "static":
                left = max(0, len(held[d]) + len(missed) - instance.capacity)
                costs[d] += running.admit * len(missed) + running.evict * left
            held[d] |= set(nodes)
            held[d] -= set(next(leaving[d], ()))
        paid += max(costs)
    return paid


def _of_shared(instance: CacheInstance, solution: CacheSolution) -> Evaluation:
    """Replay caches of which each node lies in one at most between two steps."""
    assert instance.gpus is not None, "there are several GPUs"
    steps = steps_of(instance, solution.order)
    wrong = [
        Violation("number_of_lists", f"gpus[{d}].{name}", abs(len(lists) - wanted))
        for d, plan in enumerate(solution.gpus)
        for name, lists, wanted in (
            ("held", plan.held, len(steps) - 1),
            ("evicted", plan.evicted, 0),
        )
        if len(lists) != wanted
    ]
    if wrong:
        return Evaluation(None, tuple(wrong))
    violations = [
        Violation("unknown_preload", f"gpus[{d}] preloaded node {v}", 1)
        for d, plan in enumerate(solution.gpus)
        for v in plan.preloaded
        if v not in instance.frequency
    ]
    held = [set(plan.preloaded) for plan in solution.gpus]
    violations += _held_by_all(instance, held, "preloaded")
    total = slowest = _cost_of_preloads(instance, solution)
    peers = misses = requested = 0
    for p, step in enumerate(steps):
        needs = [set(nodes) for nodes in asked(instance, step)]
        there, costs = set().union(*held), [0] * instance.gpus.count
        for d, nodes in enumerate(needs):
            requested += len(nodes)
            for v in nodes - held[d]:
                if v in there:
                    costs[d] += instance.gpus.peer_cost * instance.weight(v)
                    peers += instance.gpus.peer_cost * instance.weight(v)
                else:
                    costs[d] += instance.miss_cost(v)
                    misses += 1
            there |= nodes
        kept = [set(plan.held[p]) if p < len(steps) - 1 else set() for plan in solution.gpus]
        for d, nodes in enumerate(kept):
            for v in nodes - held[d] - needs[d]:
                if v not in there:
                    where = f"gpus[{d}].held[{p}] node {v}"
                    violations.append(Violation("held_is_not_there", where, 1))
                    continue
                costs[d] += instance.gpus.peer_cost * instance.weight(v)
                peers += instance.gpus.peer_cost * instance.weight(v)
        violations += _held_by_all(instance, kept, f"after step {p}")
        held = kept
        total += sum(costs)
        slowest += max(costs)
    components = {
        "requested": requested,
        "misses": misses,
        "preloads": sum(len(plan.preloaded) for plan in solution.gpus),
        "cost_of_peers": peers,
    }
    if instance.gpus.objective == "synchronous":
        return Evaluation(slowest, tuple(violations), {**components, "total": total})
    return Evaluation(total, tuple(violations), components)


def _cost_of_preloads(instance: CacheInstance, solution: CacheSolution) -> int:
    """Return what all GPUs pay for loads before the first step."""
    loaded = [v for plan in solution.gpus for v in plan.preloaded if v in instance.frequency]
    return sum(map(instance.miss_cost, loaded))


def _held_by_all(instance: CacheInstance, held: list[set[int]], where: str) -> Iterator[Violation]:
    """Yield which GPU holds too much, and what two of them hold."""
    seen: set[int] = set()
    for d, nodes in enumerate(held):
        yield from _overfull(instance, nodes, instance.capacity, f"gpus[{d}] {where}", "device")
        if nodes & seen:
            yield Violation("held_twice", f"gpus[{d}] {where}", len(nodes & seen))
        seen |= nodes


def _departures(
    instance: CacheInstance, solution: CacheSolution, policy: PolicyName, batches: list[list[int]]
) -> Iterator[Violation]:
    """Yield where a solution evicts what its policy would not."""
    if policy != "static" and solution.preloaded:
        yield Violation("preloads_of_a_policy", f"preloaded, policy {policy}", 1)
        return
    kept = set(solution.preloaded)
    key: dict[int, tuple[int, ...]] = {}
    time = 0
    for p, batch in enumerate(batches[:-1]):
        there = set(key)
        for v in batch:
            time += 1
            if v in there and policy == "lru":
                key[v] = (time,)
            elif v in there and policy == "lfu":
                key[v] = (key[v][0] + 1, time)
        for v in batch:
            time += 1
            if policy == "static" or v in there or instance.capacity == 0:
                continue
            if len(key) == instance.capacity:
                del key[min(key, key=key.__getitem__)]
            key[v] = (1, time) if policy == "lfu" else (time,)
        held = kept if policy == "static" else set(key)
        wanted = (there | set(batch)) - held
        if set(solution.evicted[p]) != wanted:
            departs = len(set(solution.evicted[p]) ^ wanted)
            yield Violation("evicted_is_not_of_the_policy", f"evicted[{p}], {policy}", departs)


def _running_cost(
    instance: CacheInstance,
    solution: CacheSolution,
    policy: PolicyName,
    requested: int,
    misses: int,
) -> int:
    """Return what a policy costs to run; all but the nodes that are held at the end have left."""
    assert instance.policy_cost is not None, "the policy has a cost"
    cost = instance.policy_cost.of(policy)
    if policy == "static":
        admitted, left = len(solution.preloaded), 0
    else:
        admitted, left = misses, misses - min(instance.capacity, len(instance.frequency))
    return (
        cost.lookup * requested
        + cost.hit * (requested - misses)
        + cost.admit * admitted
        + cost.evict * left
    )


def _order_violations(instance: CacheInstance, solution: CacheSolution) -> Iterator[Violation]:
    """Yield what makes the order no permutation, and lists of the wrong length."""
    n, seen = len(instance.requests), set()  # type: int, set[int]
    for k, t in enumerate(solution.order):
        if t >= n:
            yield Violation("unknown_request", f"order[{k}]", t - n + 1)
        elif t in seen:
            yield Violation("request_twice", f"order[{k}]", 1)
        seen.add(t)
    missing = n - len(seen & set(range(n)))
    if missing:
        yield Violation("request_missing", f"order of {n} requests", missing)
    if instance.order == "given":
        for k, t in enumerate(solution.order):
            if t != k:
                yield Violation("order_is_given", f"order[{k}]", abs(t - k))
                break
    gpus = 0 if instance.gpus is None else instance.gpus.count
    if len(solution.gpus) != gpus:
        yield Violation("number_of_plans", f"gpus of {gpus}", abs(len(solution.gpus) - gpus))
    if gpus and solution.preloaded:
        yield Violation("preloaded_by_no_gpu", "preloaded", len(solution.preloaded))
    boundaries = 0 if gpus else instance.num_batches - 1
    for name, wanted in (
        ("evicted", {boundaries}),
        ("demoted", {0, boundaries}),
        ("dropped", {0, boundaries}),
    ):
        lists = len(getattr(solution, name))
        if lists not in wanted:
            yield Violation("number_of_lists", name, abs(lists - boundaries))


def _retain(
    instance: CacheInstance, solution: CacheSolution, p: int, device: set[int], host: set[int]
) -> Iterator[Violation]:
    """Apply the evictions after batch p, and yield what they violate."""
    evicted = solution.evicted[p]
    demoted = solution.demoted[p] if solution.demoted else ()
    dropped = solution.dropped[p] if solution.dropped else ()
    for v in evicted:
        if v not in device:
            yield Violation("evicted_is_not_there", f"evicted[{p}] node {v}", 1)
        device.discard(v)
    for v in demoted:
        if v not in evicted:
            yield Violation("demoted_is_not_evicted", f"demoted[{p}] node {v}", 1)
        else:
            host.add(v)
    for v in dropped:
        if v not in host:
            yield Violation("dropped_is_not_there", f"dropped[{p}] node {v}", 1)
        host.discard(v)
    yield from _overfull(instance, device, instance.capacity, f"after batch {p}", "device")
    yield from _overfull(instance, host, instance.host_capacity, f"after batch {p}", "host")


def _overfull(
    instance: CacheInstance, nodes: Iterable[int], capacity: int, where: str, cache: str
) -> Iterator[Violation]:
    held = sum(instance.size(v) for v in nodes if v in instance.frequency)
    if held > capacity:
        yield Violation(f"{cache}_capacity", where, held - capacity)
