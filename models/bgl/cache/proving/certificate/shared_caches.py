r"""What shared caches may hold after a step, and what each GPU pays.

A GPU *has* a node in a step if it held or needs it. Left out is what some other plan, which is not,
does no worse:

1. Holding more is never worse, as a feature costs no more from a peer than from the graph store. So
   no node that is needed later is dropped where a GPU that has it keeps room.
2. Where all that is paid counts, no GPU pays for a node that it does not have while one that has it
   keeps room. The latter may hold it instead: until its room is needed or the node is held
   elsewhere, when it goes to the same place, or until the other GPU needs it. The peer's cost is
   then paid once, and not before. Where the slowest GPU of each step counts, it matters when.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import comb

from ...gpus import asked
from ...instance import CacheInstance

#: Ways to hold nodes after a step. By definition.
MOST_WAYS = 20_000

#: Nodes of a cache, as those under a policy with two numbers that are 0 here.
Held = tuple[tuple[int, int, int], ...]


def served_by_all(
    instance: CacheInstance, caches: Sequence[Held], step: Sequence[int], later: set[int]
) -> Iterator[tuple[tuple[Held, ...], list[int]]]:
    """Yield what the caches of all GPUs may hold after a step, and what each GPU pays."""
    assert instance.gpus is not None, "the instance was checked"
    peer_cost, K = instance.gpus.peer_cost, instance.capacity
    total = instance.gpus.objective == "total"
    held = [{v for v, _, _ in nodes} for nodes in caches]
    there, has, costs = set().union(*held), [], []
    for nodes, needed in zip(held, asked(instance, step), strict=True):
        got = set(needed) - nodes
        costs.append(sum(peer_cost * instance.weight(v) for v in got & there))
        costs[-1] += sum(instance.miss_cost(v) for v in got - there)
        there |= got
        has.append(nodes | got)
    useful = sorted(there & later)
    if num_ways(len(useful), K, len(held)) > MOST_WAYS:
        raise ValueError(f"more than {MOST_WAYS} ways to hold nodes after a step, expected fewer")
    for places in _placed(useful, [K] * len(held)):
        room = [K - places.count(g) for g in range(len(held))]
        had = [[g for g, nodes in enumerate(has) if v in nodes] for v in useful]
        moved = [p is not None and p not in g for p, g in zip(places, had, strict=True)]
        roomy = [any(room[g] for g in owners) for owners in had]
        if any(
            spare and (p is None or (total and paid))
            for p, spare, paid in zip(places, roomy, moved, strict=True)
        ):
            continue
        more = list(costs)
        for v, p, paid in zip(useful, places, moved, strict=True):
            if p is not None and paid:
                more[p] += peer_cost * instance.weight(v)
        kept = [
            tuple((v, 0, 0) for v, p in zip(useful, places, strict=True) if p == g)
            for g in range(len(held))
        ]
        yield tuple(kept), more


@cache
def num_ways(nodes: int, capacity: int, gpus: int) -> int:
    """Return the number of ways to hold nodes, each on one GPU or none; counting ends early."""
    if gpus == 0:
        return 1
    ways = 0
    for k in range(min(capacity, nodes) + 1):
        ways += comb(nodes, k) * num_ways(nodes - k, capacity, gpus - 1)
        if ways > MOST_WAYS:
            break
    return ways


def _placed(nodes: Sequence[int], room: list[int]) -> Iterator[list[int | None]]:
    """Yield every way to give nodes to GPUs with room, or to none."""
    if not nodes:
        yield []
        return
    for g in (None, *range(len(room))):
        if g is not None and room[g] == 0:
            continue
        left = [space - (k == g) for k, space in enumerate(room)]
        for rest in _placed(nodes[1:], left):
            yield [g, *rest]
