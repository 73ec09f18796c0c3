r"""Several GPUs: what an order asks of each cache, as an instance of one cache in a given order.

The order is cut into steps of D batches; the k-th batch of a step is that of GPU k, and the last
step may have fewer.

* Private caches: GPU d's cache is asked for its batches, one after the other.
* Partitioned caches: node v lies at GPU :math:`v \bmod D`. In a step its cache is asked for those
  of its nodes that any batch of the step needs, once; steps that need none do not count. Whatever a
  batch needs from another GPU costs `peer_cost`, whether it was held there or had to be loaded.
* Shared caches: between steps a node lies on one GPU at most, whichever. In a step what a GPU needs
  and holds is free, and what another one holds costs `peer_cost`. What none holds is loaded by the
  first GPU that needs it; the others get it at `peer_cost`. After the step each GPU may hold what
  any had in it, at `peer_cost` if it neither held nor needed it.

Objectives: all that GPUs pay, or, synchronous, the sum over steps of what the GPU pays that pays
most, as all wait for it. A load is paid by the GPU that loads; loads before the first batch all
count, so that no load is better made before than when it is needed.
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
    """Return what a step asks of each cache, ascending; of a shared one what its GPU needs."""
    assert instance.gpus is not None, "there are several GPUs"
    D = instance.gpus.count
    if instance.gpus.caches != "partitioned":
        return [instance.requests[t] for t in step] + [()] * (D - len(step))
    needed = sorted({v for t in step for v in instance.requests[t]})
    return [tuple(v for v in needed if v % D == d) for d in range(D)]


def peers_of_each(instance: CacheInstance, order: Sequence[int]) -> list[int]:
    """Return what each GPU pays for features from others in an order, unless caches are shared."""
    assert instance.gpus is not None, "there are several GPUs"
    D, paid = instance.gpus.count, [0] * instance.gpus.count
    if instance.gpus.caches == "partitioned":
        for k, t in enumerate(order):
            sent = sum(instance.weight(v) for v in instance.requests[t] if v % D != k % D)
            paid[k % D] += instance.gpus.peer_cost * sent
    return paid


def cost_of_peers(instance: CacheInstance, order: Sequence[int]) -> int:
    """Return what an order pays for features from other GPUs."""
    return sum(peers_of_each(instance, order))


def cache_of_each(instance: CacheInstance, order: Sequence[int]) -> list[CacheInstance | None]:
    """Return each GPU's cache as an instance of its own; None where nothing is asked of it."""
    assert instance.gpus is not None, "there are several GPUs"
    of_gpu: list[list[Nodes]] = [[] for _ in range(instance.gpus.count)]
    for step in steps_of(instance, order):
        for d, nodes in enumerate(asked(instance, step)):
            if nodes:
                of_gpu[d].append(nodes)
    return [_alone(instance, requests, instance.capacity) for requests in of_gpu]


def pool_of(instance: CacheInstance, order: Sequence[int]) -> tuple[CacheInstance, int]:
    """Return one cache in place of shared ones, and what is paid for peers at least.

    It has room for all that these hold together, and is asked for a node once in a step. Of the
    GPUs that need a node in a step all but one get it from a peer.
    """
    assert instance.gpus is not None, "there are several GPUs"
    unions, again = [], 0
    for step in steps_of(instance, order):
        needed = {v for t in step for v in instance.requests[t]}
        again += sum(instance.weight(v) for t in step for v in instance.requests[t])
        again -= sum(map(instance.weight, needed))
        unions.append(tuple(sorted(needed)))
    pool = _alone(instance, unions, instance.gpus.count * instance.capacity)
    assert pool is not None, "there are requests"
    return pool, instance.gpus.peer_cost * again


def _alone(instance: CacheInstance, requests: list[Nodes], capacity: int) -> CacheInstance | None:
    """Return one cache with some requests in their order; None without any."""
    if not requests:
        return None
    data = {name: getattr(instance, name) for name in CacheInstance.model_fields}
    alone = {"order": "given", "graph": None, "gpus": None, "capacity": capacity}
    return CacheInstance(**data | alone | {"requests": tuple(requests)})


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


def partitioned(instance: CacheInstance) -> CacheInstance:
    """Return an instance with shared caches partitioned."""
    assert instance.gpus is not None, "there are several GPUs"
    gpus = instance.gpus.model_copy(update={"caches": "partitioned"})
    return instance.model_copy(update={"gpus": gpus})


def shared_as_partitioned(instance: CacheInstance, plan: CacheSolution) -> CacheSolution:
    """Return what shared caches hold that do as partitioned ones; it costs no more in total."""
    homes, steps = partitioned(instance), steps_of(instance, plan.order)
    held: list[list[Nodes]] = [[] for _ in plan.gpus]
    there = [set(one.preloaded) for one in plan.gpus]
    leaving = [iter(one.evicted) for one in plan.gpus]
    for step in steps[:-1]:
        for d, nodes in enumerate(asked(homes, step)):
            if nodes:
                there[d] |= set(nodes)
                there[d] -= set(next(leaving[d], there[d]))
            held[d].append(tuple(sorted(there[d])))
    gpus = [
        GpuPlan(preloaded=one.preloaded, held=tuple(lists))
        for one, lists in zip(plan.gpus, held, strict=True)
    ]
    return plan.model_copy(update={"gpus": tuple(gpus)})
