r"""Several GPUs: what an order asks of each cache, as an instance of one cache in a given order.

The order is cut into steps of D batches; the k-th batch of a step is that of GPU k, and the last
step may have fewer.

* Private caches: GPU d's cache is asked for its batches, one after the other.
* Partitioned caches: node v lies at GPU :math:`v \bmod D`. In a step its cache is asked for those
  of its nodes that any batch of the step needs, once; steps that need none do not count. Whatever a
  batch needs from another GPU costs `peer_cost`, whether it was held there or had to be loaded.
"""

from __future__ import annotations

from collections.abc import Sequence

from .instance import CacheInstance, CacheSolution, GpuPlan, Nodes, PolicyName


def steps_of(instance: CacheInstance, order: Sequence[int]) -> list[Sequence[int]]:
    """Return the requests of each step of an order."""
    assert instance.gpus is not None, "there are several GPUs"
    D = instance.gpus.count
    return [order[k : k + D] for k in range(0, len(order), D)]


def asked(instance: CacheInstance, step: Sequence[int]) -> list[Nodes]:
    """Return what a step asks of each cache, ascending."""
    assert instance.gpus is not None, "there are several GPUs"
    D = instance.gpus.count
    if instance.gpus.caches == "private":
        return [instance.requests[t] for t in step] + [()] * (D - len(step))
    needed = sorted({v for t in step for v in instance.requests[t]})
    return [tuple(v for v in needed if v % D == d) for d in range(D)]


def cost_of_peers(instance: CacheInstance, order: Sequence[int]) -> int:
    """Return what an order pays for features from other GPUs."""
    assert instance.gpus is not None, "there are several GPUs"
    if instance.gpus.caches == "private":
        return 0
    D = instance.gpus.count
    sent = (
        instance.weight(v)
        for k, t in enumerate(order)
        for v in instance.requests[t]
        if v % D != k % D
    )
    return instance.gpus.peer_cost * sum(sent)


def cache_of_each(instance: CacheInstance, order: Sequence[int]) -> list[CacheInstance | None]:
    """Return each GPU's cache as an instance of its own; None where nothing is asked of it."""
    assert instance.gpus is not None, "there are several GPUs"
    of_gpu: list[list[Nodes]] = [[] for _ in range(instance.gpus.count)]
    for step in steps_of(instance, order):
        for d, nodes in enumerate(asked(instance, step)):
            if nodes:
                of_gpu[d].append(nodes)
    data = {name: getattr(instance, name) for name in CacheInstance.model_fields}
    alone = {"order": "given", "graph": None, "gpus": None}
    return [
        CacheInstance(**data | alone | {"requests": tuple(requests)}) if requests else None
        for requests in of_gpu
    ]


def solution_of_each(
    order: Sequence[int], found: Sequence[CacheSolution | None], policy: PolicyName | None
) -> CacheSolution:
    """Return the solution of an order with what each GPU's cache does."""
    return CacheSolution(
        order=tuple(order),
        evicted=(),
        policy=policy,
        gpus=tuple(
            GpuPlan() if one is None else GpuPlan(evicted=one.evicted, preloaded=one.preloaded)
            for one in found
        ),
    )
