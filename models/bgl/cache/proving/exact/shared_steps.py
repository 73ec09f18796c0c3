"""What shared caches may hold after a step, GPU by GPU; why some is left out, see its check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from ...gpus import asked
from ...instance import CacheInstance
from ..certificate.shared_caches import MOST_WAYS, num_ways
from ..reload_tables import OutOfTimeError


def after_step(
    instance: CacheInstance, held: Sequence[set[int]], step: Sequence[int], later: set[int]
) -> Iterator[tuple[list[set[int]], list[int]]]:
    """Yield what GPUs may hold of the nodes that are needed later, and what each has paid.

    Raises
    ------
    OutOfTimeError
        If there are too many ways.
    """
    assert instance.gpus is not None, "there are several GPUs"
    total = instance.gpus.objective == "total"
    costs, there = [0] * len(held), set().union(*held)
    needs = [set(nodes) for nodes in asked(instance, step)]
    for g, nodes in enumerate(needs):
        for v in nodes - held[g]:
            costs[g] += _peer_cost(instance, v) if v in there else instance.miss_cost(v)
        there |= nodes
    had = [(old | new) & later for old, new in zip(held, needs, strict=True)]
    if num_ways(len(there & later), instance.capacity, len(held)) > MOST_WAYS:
        raise OutOfTimeError
    for kept in _choices(sorted(there & later), instance.capacity, len(held)):
        stays = set().union(*kept)
        spare = [g for g, nodes in enumerate(kept) if len(nodes) < instance.capacity]
        idle = set().union(*(had[g] for g in spare))
        if idle - stays:
            continue
        moved = [nodes - there for nodes, there in zip(kept, had, strict=True)]
        if total and idle & set().union(*moved):
            continue
        yield (
            kept,
            [
                paid + sum(_peer_cost(instance, v) for v in nodes)
                for paid, nodes in zip(costs, moved, strict=True)
            ],
        )


def _choices(nodes: Sequence[int], capacity: int, gpus: int) -> Iterator[list[set[int]]]:
    """Yield all ways to hold nodes, each on one GPU or none."""
    if gpus == 0:
        yield []
        return
    for size in range(min(capacity, len(nodes)) + 1):
        for chosen in combinations(nodes, size):
            rest = [v for v in nodes if v not in chosen]
            for others in _choices(rest, capacity, gpus - 1):
                yield [set(chosen), *others]


def _peer_cost(instance: CacheInstance, node: int) -> int:
    assert instance.gpus is not None, "there are several GPUs"
    return instance.gpus.peer_cost * instance.weight(node)
