r"""That no static caches of several GPUs cost less, where the slowest GPU of each step counts.

A GPU pays l for every node that its cache is asked for, h for each that is held, c w for each that
is not, what its batch needs from peers, and first c w + m for every node that is held at all.

1. What a step costs does not depend on the steps before it. So all ways to fill steps are gone
   through, whatever the order of the full ones: of the batches that are left the first is in the
   next step. A last step of fewer batches is filled before the others.
2. A cache holds at most K nodes, and none that costs no less than it can save: found each time that
   it may be asked for, a node saves c w - h each time at most, as no step gets cheaper by more than
   one of its GPUs does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product
from math import comb, perm

from ...gpus import asked, peers_of_each
from ...instance import CacheInstance

#: Choices of what all caches hold, times steps that their GPUs may have. By definition.
MOST_CHOICES = 400_000


def no_static_below(instance: CacheInstance, cost: int) -> bool:
    """Return True if every order costs at least so much, whatever the GPUs hold throughout.

    Raises
    ------
    ValueError
        If there are too many choices of what caches hold, times steps.
    """
    assert instance.gpus is not None, "the instance was checked"
    assert instance.policy_cost is not None, "a policy has a cost"
    batches, D = len(instance.requests), instance.gpus.count
    worthy = [_worth_holding(instance, d) for d in range(D)]
    contents = 1
    for nodes in worthy:
        fitting = min(instance.capacity, len(nodes))
        contents *= sum(comb(len(nodes), k) for k in range(fitting + 1))
    steps = (batches + D - 1) // D
    if instance.order == "free":
        short = batches % D
        steps = perm(batches, D) + (perm(batches, short) if short else 0)
    if contents * steps > MOST_CHOICES:
        raise ValueError(
            f"{contents} choices of static caches times {steps} steps, expected at most "
            f"{MOST_CHOICES}"
        )
    moves = _moves(instance)
    names = sorted({step for _, _, step in moves})
    index = {step: k for k, step in enumerate(names)}
    ways = [list(_paid_by(instance, d, worthy[d], names)) for d in range(D)]
    everything = (1 << batches) - 1
    for way in product(*ways):
        in_steps = [max(costs) for costs in zip(*(costs for _, costs in way), strict=True)]
        least = {everything: sum(first for first, _ in way)}
        for left, after, step in moves:
            paid = least[left] + in_steps[index[step]]
            if after not in least or paid < least[after]:
                least[after] = paid
        if least[0] < cost:
            return False
    return True


def _moves(instance: CacheInstance) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return batches that are left, those after a step, and the step; more left come first."""
    assert instance.gpus is not None, "the instance was checked"
    batches, D = len(instance.requests), instance.gpus.count
    moves = []
    layer = {(1 << batches) - 1}
    while layer:
        below: set[int] = set()
        for left in sorted(layer):
            open_ = [t for t in range(batches) if left >> t & 1]
            size = len(open_) % D or D
            for step in [tuple(open_[:D])] if instance.order == "given" else _fill(open_, size, D):
                after = left
                for t in step:
                    after -= 1 << t
                moves.append((left, after, step))
                if after:
                    below.add(after)
        layer = below
    return moves


def _fill(open_: list[int], size: int, gpus: int) -> Iterator[tuple[int, ...]]:
    """Yield the next steps: short ones are all different, of full ones one has the first batch."""
    for step in permutations(open_, size):
        if size < gpus or open_[0] in step:
            yield step


def _worth_holding(instance: CacheInstance, gpu: int) -> list[int]:
    """Return what a GPU may save by holding, if it is found whenever it may be asked for."""
    assert instance.gpus is not None, "the instance was checked"
    assert instance.policy_cost is not None, "a policy has a cost"
    D, cost = instance.gpus.count, instance.policy_cost.static
    private, given = instance.gpus.caches == "private", instance.order == "given"
    nodes = []
    for v in sorted(instance.frequency):
        if not private and v % D != gpu:
            continue
        using = [t for t, needed in enumerate(instance.requests) if v in needed]
        if given and private:
            using = [t for t in using if t % D == gpu]
        times = len({t // D for t in using}) if given else len(using)
        load = instance.miss_cost(v)
        if times * (load - cost.hit) > load + cost.admit:
            nodes.append(v)
    return nodes


def _paid_by(
    instance: CacheInstance, gpu: int, nodes: list[int], steps: list[tuple[int, ...]]
) -> Iterator[tuple[int, list[int]]]:
    """Yield what a GPU pays first and in each step, for everything that it may hold."""
    assert instance.policy_cost is not None, "a policy has a cost"
    running = instance.policy_cost.static
    needed = [asked(instance, step)[gpu] for step in steps]
    peers = [peers_of_each(instance, step)[gpu] for step in steps]
    for size in range(min(instance.capacity, len(nodes)) + 1):
        for held in combinations(nodes, size):
            first = sum(instance.miss_cost(v) + running.admit for v in held)
            costs = []
            for wanted, fetched in zip(needed, peers, strict=True):
                served = (running.hit if v in held else instance.miss_cost(v) for v in wanted)
                costs.append(fetched + running.lookup * len(wanted) + sum(served))
            yield first, costs
