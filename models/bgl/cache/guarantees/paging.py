r"""The competitive ratio of FIFO and LRU for classical paging.

Sleator and Tarjan's ratio is K where a requested page has to enter the cache of K pages. Here it
may be bypassed, so that the optimum in effect has K + 1 places during a request, and the ratio is
K + 1: cut the sequence, from its end, into phases of K + 1 misses of the policy. In each, K + 1
different nodes are requested, of which the optimum retains at most K, so it misses once; the first
phase, which may be shorter, starts with empty caches and a miss. Both start empty, so there is no
additive term.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gadgetopt.system.declaring import guarantee

from ..instance import CacheInstance


def is_paging(instance: CacheInstance, parameters: Mapping[str, Any]) -> bool:
    """Return True if requests of one node each come in a given order."""
    return (
        instance.order == "given"
        and instance.batch_size == 1
        and all(len(nodes) == 1 for nodes in instance.requests)
    )


def is_uniform(instance: CacheInstance, parameters: Mapping[str, Any]) -> bool:
    """Return True if all misses cost the same and all nodes take one unit of the only cache."""
    one = instance.host_capacity == 0 and instance.gpus is None
    return one and instance.unit_sizes and instance.unit_weights


@guarantee(
    statement="FIFO and LRU load at most K + 1 times as much as any solution",
    reference="after Sleator and Tarjan 1985, for caches that may be bypassed",
    methods=("fifo", "lru"),
    assumptions={
        "the order is given, one node a batch": is_paging,
        "misses of one cost, unit sizes, one cache": is_uniform,
    },
)
def ratio(instance: CacheInstance, parameters: Mapping[str, Any]) -> int:
    """Return K + 1."""
    return instance.capacity + 1
