"""Intervals: two consecutive uses of a node, between which its feature may be kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gadgetopt.numbers.arrays import Bools, Ints

from ..instance import CacheInstance, CacheSolution

#: Largest key of a sort. By definition.
_MOST_KEY = 2**62


@dataclass(frozen=True)
class Intervals:
    """Intervals [start, end) of boundaries, sorted by end; boundary i lies after batch i.

    Attributes
    ----------
    node, start, end : arrays of shape (R,)
        Batch `end` is the first after batch `start` that needs the node again.
    boundaries : int
        Number of batches less one.
    """

    node: Ints
    start: Ints
    end: Ints
    boundaries: int


def intervals_of(batches: Sequence[Sequence[int]]) -> Intervals:
    """Return the intervals of batches in their order. O(n log n) for n requested nodes.

    Nodes are numbered anew where their numbers are too large for the keys that are sorted.
    """
    lengths = np.fromiter(map(len, batches), dtype=np.int64, count=len(batches))
    batch = np.repeat(np.arange(len(batches)), lengths)
    distinct = sorted({v for nodes in batches for v in nodes})
    if distinct and distinct[-1] * len(batch) < _MOST_KEY:
        nodes = np.fromiter((v for nodes in batches for v in nodes), np.int64, len(batch))
        return intervals_of_uses(nodes, batch, len(batches))
    number = {v: k for k, v in enumerate(distinct)}
    nodes = np.fromiter((number[v] for nodes in batches for v in nodes), np.int64, len(batch))
    found = intervals_of_uses(nodes, batch, len(batches))
    return replace(found, node=np.array(distinct, dtype=object)[found.node])


def intervals_of_uses(nodes: Ints, batch: Ints, num_batches: int) -> Intervals:
    """Return the intervals of uses: of nodes, in batches that do not decrease."""
    count = len(nodes)
    # Sorting numbers is several times faster than sorting places; the key is both.
    by_node = np.sort(nodes * count + np.arange(count)) % max(count, 1)
    again = nodes[by_node[1:]] == nodes[by_node[:-1]]
    previous = np.full(count, -1)
    previous[by_node[1:][again]] = by_node[:-1][again]
    later = np.flatnonzero(previous >= 0)
    return Intervals(nodes[later], batch[previous[later]], batch[later], num_batches - 1)


def solution_of(
    instance: CacheInstance,
    order: Sequence[int],
    kept: Bools,
    intervals: Intervals,
    on_host: Bools | None = None,
) -> CacheSolution:
    """Return the solution that keeps some intervals on the device, and others on the host.

    A node leaves the device after a batch unless it is kept until its next use.
    """
    batches = instance.batches(tuple(order))
    device = _by_start(intervals, kept)
    lists: list[tuple[int, ...]] = []
    for p, nodes in enumerate(batches[:-1]):
        stay = device.get(p, set())
        lists.append(tuple(v for v in nodes if v not in stay))
    if on_host is None or not on_host.any():
        return CacheSolution(order=tuple(order), evicted=tuple(lists))
    host = _by_start(intervals, on_host)
    demoted = [
        tuple(v for v in nodes if v in host.get(p, set())) for p, nodes in enumerate(batches[:-1])
    ]
    return CacheSolution(
        order=tuple(order),
        evicted=tuple(lists),
        demoted=tuple(demoted),
        dropped=((),) * len(demoted),
    )


def solution_of_contents(
    instance: CacheInstance, order: Sequence[int], contents: Sequence[tuple[set[int], set[int]]]
) -> CacheSolution:
    """Return the solution that holds given nodes on device and host after each batch but the last.

    Nodes that are not there to be held are left out.
    """
    device, host = set(), set()  # type: set[int], set[int]
    evicted, demoted, dropped = [], [], []
    for batch, (wanted, moved) in zip(instance.batches(tuple(order)), contents, strict=False):
        host -= set(batch)
        device |= set(batch)
        gone = device - wanted
        evicted.append(tuple(sorted(gone)))
        demoted.append(tuple(sorted(gone & moved)))
        dropped.append(tuple(sorted(host - moved)))
        device, host = device & wanted, host & moved | gone & moved
    return CacheSolution(
        order=tuple(order), evicted=tuple(evicted), demoted=tuple(demoted), dropped=tuple(dropped)
    )


def _by_start(intervals: Intervals, chosen: Bools) -> dict[int, set[int]]:
    nodes: dict[int, set[int]] = {}
    starts, kept = intervals.start[chosen].tolist(), intervals.node[chosen].tolist()
    for p, v in zip(starts, kept, strict=True):
        nodes.setdefault(p, set()).add(v)
    return nodes
