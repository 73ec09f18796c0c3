"""Online policies replayed batch by batch, O(1) for every node of a batch.

The hits of a batch are determined first, and touched in ascending order of the nodes. Then the
other nodes are loaded in ascending order, and what does not fit leaves. With a host cache, what
leaves the device goes there, by the same rule. Several GPUs run the same policy, each by itself;
shared caches as partitioned ones.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from ..gpus import cache_of_each, partitioned, shared_as_partitioned, solution_of_each
from ..instance import CacheInstance, CacheSolution

Policy = Literal["fifo", "lru", "lfu"]


class Held(Protocol):
    """What a cache holds, and in which order it leaves."""

    def __contains__(self, node: int) -> bool: ...
    def __len__(self) -> int: ...
    def add(self, node: int) -> None:
        """Take a node in."""

    def touch(self, node: int) -> None:
        """Note that a node that is held was used."""

    def remove(self, node: int) -> None:
        """Remove a node."""

    def pop(self) -> int:
        """Remove the node that the policy evicts, and return it."""


class Fifo:
    """First in, first out: hits change nothing."""

    def __init__(self) -> None:
        # In the order in which they leave. To find the first key of a `dict` takes as long as keys
        # were removed before it.
        self.nodes: OrderedDict[int, None] = OrderedDict()

    def __contains__(self, node: int) -> bool:
        return node in self.nodes

    def __len__(self) -> int:
        return len(self.nodes)

    def add(self, node: int) -> None:
        """Take a node in."""
        self.nodes[node] = None

    def touch(self, node: int) -> None:
        """Do nothing."""

    def remove(self, node: int) -> None:
        """Remove a node."""
        del self.nodes[node]

    def pop(self) -> int:
        """Remove the oldest node and return it."""
        return self.nodes.popitem(last=False)[0]


class Lru(Fifo):
    """Least recently used first."""

    def touch(self, node: int) -> None:
        """Make a node the most recent one."""
        self.nodes.move_to_end(node)


class Lfu:
    """Least frequently used since it was loaded first; of equal ones the least recent."""

    def __init__(self) -> None:
        self.times: dict[int, int] = {}
        self.of_times: dict[int, OrderedDict[int, None]] = {}
        self.fewest: int = 1

    def __contains__(self, node: int) -> bool:
        return node in self.times

    def __len__(self) -> int:
        return len(self.times)

    def add(self, node: int) -> None:
        """Take a node in, used once."""
        self.times[node] = 1
        self.of_times.setdefault(1, OrderedDict())[node] = None
        self.fewest = 1

    def touch(self, node: int) -> None:
        """Count one more use."""
        times = self.times[node]
        self.remove(node)
        self.times[node] = times + 1
        self.of_times.setdefault(times + 1, OrderedDict())[node] = None

    def remove(self, node: int) -> None:
        """Remove a node."""
        times = self.times.pop(node)
        del self.of_times[times][node]
        if not self.of_times[times]:
            del self.of_times[times]

    def pop(self) -> int:
        """Remove the node of the fewest uses and return it."""
        while self.fewest not in self.of_times:
            self.fewest += 1
        node = next(iter(self.of_times[self.fewest]))
        self.remove(node)
        return node


POLICIES: dict[Policy, type[Fifo] | type[Lfu]] = {"fifo": Fifo, "lru": Lru, "lfu": Lfu}


class Cache:
    """A cache of some capacity with a policy.

    Attributes
    ----------
    left : list of int
        Nodes that have left since it was last emptied, in their order; also those too large.
    """

    held: Held
    instance: CacheInstance

    def __init__(self, instance: CacheInstance, capacity: int, held: Held):
        self.instance, self.held = instance, held
        self.unit: bool = instance.unit_sizes
        self.room: int = capacity
        self.capacity = capacity
        self.left: list[int] = []

    def load(self, node: int) -> None:
        """Take a node in, and let others leave until it fits."""
        size = 1 if self.unit else self.instance.size(node)
        if size > self.capacity:
            self.left.append(node)
            return
        while self.room < size:
            gone = self.held.pop()
            self.left.append(gone)
            self.room += 1 if self.unit else self.instance.size(gone)
        self.held.add(node)
        self.room -= size

    def remove(self, node: int) -> None:
        """Remove a node that moves elsewhere."""
        self.held.remove(node)
        self.room += self.instance.size(node)


def replay(instance: CacheInstance, order: Sequence[int], policy: Policy) -> CacheSolution:
    """Return what a policy does on an order of the requests. Time O(1) for each requested node."""
    if instance.gpus is not None:
        if instance.gpus.caches == "shared":
            return shared_as_partitioned(instance, replay(partitioned(instance), order, policy))
        alone = [
            None if cache is None else replay(cache, range(len(cache.requests)), policy)
            for cache in cache_of_each(instance, order)
        ]
        return solution_of_each(order, alone, None if instance.policy_cost is None else policy)
    device = Cache(instance, instance.capacity, POLICIES[policy]())
    host = Cache(instance, instance.host_capacity, POLICIES[policy]())
    evicted, demoted, dropped = [], [], []
    for batch in instance.batches(tuple(order)):
        hits = {v for v in batch if v in device.held}
        for v in batch:
            if v in host.held:
                host.remove(v)
        for v in batch:
            if v in hits:
                device.held.touch(v)
        for v in batch:
            if v not in hits:
                device.load(v)
        gone = [v for v in dict.fromkeys(device.left) if v not in device.held]
        device.left.clear()
        evicted.append(tuple(sorted(gone)))
        if instance.host_capacity:
            for v in gone:
                host.load(v)
            out = {v for v in host.left if v not in host.held}
            host.left.clear()
            demoted.append(tuple(v for v in sorted(gone) if v in host.held))
            dropped.append(tuple(sorted(out - set(gone))))
    return CacheSolution(
        order=tuple(order),
        evicted=tuple(evicted[:-1]),
        demoted=tuple(demoted[:-1]),
        dropped=tuple(dropped[:-1]),
        policy=None if instance.policy_cost is None else policy,
    )


def static(instance: CacheInstance, order: Sequence[int], ranked: Iterable[int]) -> CacheSolution:
    """Return the solution that loads the first nodes of a ranking that fit, and keeps them.

    Of several GPUs each takes the first ones that are asked of it.
    """
    if instance.gpus is not None:
        first = list(ranked)
        if instance.gpus.caches == "shared":
            return shared_as_partitioned(instance, static(partitioned(instance), order, first))
        alone = [
            None
            if cache is None
            else static(
                cache, range(len(cache.requests)), [v for v in first if v in cache.frequency]
            )
            for cache in cache_of_each(instance, order)
        ]
        return solution_of_each(order, alone, None if instance.policy_cost is None else "static")
    room, held = instance.capacity, []
    for v in ranked:
        if instance.size(v) <= room:
            held.append(v)
            room -= instance.size(v)
        if room == 0:
            break
    kept = set(held)
    batches = instance.batches(tuple(order))
    return CacheSolution(
        order=tuple(order),
        evicted=tuple(tuple(v for v in batch if v not in kept) for batch in batches[:-1]),
        preloaded=tuple(sorted(kept)),
        policy=None if instance.policy_cost is None else "static",
    )
