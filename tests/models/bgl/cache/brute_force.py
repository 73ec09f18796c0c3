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
    """The least cost of all orders and of all contents of the caches between batches."""
    n = len(instance.requests)
    orders = [tuple(range(n))] if instance.order == "given" else itertools.permutations(range(n))
    if instance.gpus is not None:
        return min(_of_gpus(instance, o) for o in orders)
    return min(_retention(instance, tuple(map(tuple, instance.batches(o)))) for o in orders)


def asked_of_gpus(
    instance: CacheInstance, order: tuple[int, ...]
) -> tuple[list[tuple[tuple[int, ...], ...]], int]:
    """What every GPU's cache is asked for, without empty lists, and what other GPUs' nodes cost."""
    D, private = instance.gpus.count, instance.gpus.caches == "private"
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
    asked, peers = asked_of_gpus(instance, order)
    return peers + sum(_retention(instance, lists) for lists in asked if lists)


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
    """A few batches of a few nodes; kinds: given, free, weights, sizes, host, grouped, gpus."""
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
    if kind == "gpus":
        private, cost = bool(rng.random() < 0.5), int(rng.integers(1, 9))
        peers = 0 if private else int(rng.integers(0, 6))
        caches = "private" if private else "partitioned"
        gpus = {"count": int(rng.integers(2, 4)), "caches": caches, "peer_cost": peers}
        data |= {"order": str(rng.choice(["given", "free"])), "remote_cost": cost, "gpus": gpus}
        data |= {"capacity": int(rng.integers(0, 3))}
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
