"""What orders of requests begin with: how one request more is fixed, and what the rest costs."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from ...instance import CacheInstance

Prefix = tuple[int, ...]


def extensions(instance: CacheInstance, prefix: Prefix) -> list[Prefix]:
    """Return the prefixes of one request more; of those that are the same, one.

    Requests of a mini-batch ascend, and of requests for the same nodes the first one comes first.
    """
    fixed = set(prefix)
    begins_batch = len(prefix) % instance.batch_size == 0
    least = 0 if begins_batch else prefix[-1] + 1
    first: dict[tuple[int, ...], int] = {}
    for k in range(least, len(instance.requests)):
        if k not in fixed:
            first.setdefault(instance.requests[k], k)
    return [(*prefix, k) for k in first.values()]


def cost_beyond(instance: CacheInstance, prefix: Prefix) -> int:
    """Return what an order costs at least after whole mini-batches that it begins with.

    New nodes are loaded once. Of the nodes that both sides need, the caches hold at the boundary
    what fits, in fractions, where it saves most; the others are loaded again.
    """
    fixed = set(prefix)
    before = {v for k in prefix for v in instance.requests[k]}
    after = {v for k, nodes in enumerate(instance.requests) if k not in fixed for v in nodes}
    both = before & after
    device, host = instance.capacity, instance.host_capacity
    remote, host_cost = instance.remote_cost, instance.host_cost
    loaded = sum(instance.miss_cost(v) for v in after)
    kept = (remote - host_cost) * _most_weight(instance, both, device + host)
    on_device = host_cost * _most_weight(instance, both, device)
    return loaded - kept - on_device


def _most_weight(instance: CacheInstance, nodes: Iterable[int], space: int) -> int:
    """Return the most weight that fits into some space, rounded up where one node is cut."""
    weight = 0
    by_density = sorted(((instance.weight(v), instance.size(v)) for v in nodes), key=_density)
    for w, size in by_density:
        if size > space:
            return weight - (-w * space // size)
        weight += w
        space -= size
    return weight


def _density(item: tuple[int, int]) -> Fraction:
    weight, size = item
    return Fraction(-weight, size)
