r"""Static caches of several GPUs whose steps wait for the slowest, with the order of their batches.

What a GPU pays in a step depends on the step's batches and on what its cache holds throughout, and
what a step costs on the caches of all GPUs at once.

1. A node is held only where it can pay: found at every use, it has to save more than its load and
   admission. No step saves more than the GPU that finds it.
2. Of all choices of what the GPUs hold together, each step has its cost, an array.
3. Full steps may change places, so that sets of batches are filled from the first that is open. A
   last step of fewer batches is chosen before the others. The least cost of a set is an array, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from itertools import combinations, permutations
from math import comb, perm, prod
from typing import Any

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock

from ...gpus import asked, cache_of_each, peers_of_each, solution_of_each, steps_of
from ...instance import CacheInstance, CacheSolution, Nodes
from ...subproblems.replay import static
from ..certificate.static_caches import MOST_CHOICES
from ..reload_tables import OutOfTimeError

Step = tuple[int, ...]


def best_static_of_steps(instance: CacheInstance, clock: Clock) -> CacheSolution:
    """Return the order and the static caches of all GPUs at the least cost of the slowest ones.

    Raises
    ------
    ModelRefused
        If there are too many choices of what caches hold, times steps.
    OutOfTimeError
        If the time is up.
    """
    assert instance.gpus is not None, "there are several GPUs"
    M, D = len(instance.requests), instance.gpus.count
    useful, K = _useful(instance), instance.capacity
    choices = prod(
        sum(comb(len(nodes), k) for k in range(min(K, len(nodes)) + 1)) for nodes in useful
    )
    steps = -(-M // D)
    if instance.order == "free":
        steps = perm(M, D) + (perm(M, M % D) if M % D else 0)
    if choices * steps > MOST_CHOICES:
        raise ModelRefused(
            f"policy_cost.static: {choices} choices of what caches hold times {steps} steps, "
            f"at most {MOST_CHOICES} are listed where the slowest GPU counts"
        )
    held = [
        [kept for k in range(min(K, len(nodes)) + 1) for kept in combinations(nodes, k)]
        for nodes in useful
    ]
    filling = _Filling(instance, held, clock)
    order, chosen = filling.best()
    alone = [
        None
        if cache is None
        else static(cache, range(len(cache.requests)), [v for v in kept if v in cache.frequency])
        for cache, kept in zip(cache_of_each(instance, order), chosen, strict=True)
    ]
    return solution_of_each(order, alone, "static")


def _useful(instance: CacheInstance) -> list[list[int]]:
    """Return the nodes of every GPU that may pay for their load (step 1)."""
    assert instance.gpus is not None, "there are several GPUs"
    assert instance.policy_cost is not None, "a policy has a cost"
    D, cost = instance.gpus.count, instance.policy_cost.static
    uses: list[Counter[int]] = [Counter() for _ in range(D)]
    if instance.order == "given":
        for step in steps_of(instance, range(len(instance.requests))):
            for times, nodes in zip(uses, asked(instance, step), strict=True):
                times.update(nodes)
    else:
        for v, times_v in instance.frequency.items():
            for d in range(D):
                if instance.gpus.caches == "private" or v % D == d:
                    uses[d][v] = times_v
    c = {v: instance.miss_cost(v) for v in instance.frequency}
    return [
        sorted(v for v, k in times.items() if (c[v] - cost.hit) * k > c[v] + cost.admit)
        for times in uses
    ]


class _Filling:
    """Costs of sets of batches, each an array over what the GPUs hold (steps 2 and 3)."""

    def __init__(self, instance: CacheInstance, held: list[list[Nodes]], clock: Clock):
        assert instance.gpus is not None, "there are several GPUs"
        assert instance.policy_cost is not None, "a policy has a cost"
        self.instance, self.held, self.clock = instance, held, clock
        self.count, self.width = len(instance.requests), instance.gpus.count
        self.cost = instance.policy_cost.static
        self.miss = instance.miss_cost(next(iter(instance.frequency)))
        # No sum of what is paid is larger; beyond 62 bits whole numbers are Python's own.
        most = sum(map(len, instance.requests)) + sum(max(map(len, kept)) for kept in held)
        dearest = self.miss + sum(self.cost.model_dump().values()) + instance.gpus.peer_cost
        weight = max(map(instance.weight, instance.frequency))
        self.dtype: Any = np.int64 if most * dearest * weight < 2**62 else object
        self.of_step: dict[Step, Any] = {}
        self.of_open: dict[int, Any] = {0: np.zeros([len(kept) for kept in held], self.dtype)}

    def best(self) -> tuple[list[int], list[Nodes]]:
        """Return the best order and what every GPU holds."""
        all_open = (1 << self.count) - 1
        given = list(steps_of(self.instance, range(self.count)))
        if self.instance.order == "given":
            total = reduce(np.add, (self.price(tuple(step)) for step in given))
        else:
            total = self.least(all_open)
        first = [
            self._along(d, [(self.miss + self.cost.admit) * len(kept) for kept in kept_by])
            for d, kept_by in enumerate(self.held)
        ]
        total = reduce(np.add, first, total)
        at = np.unravel_index(int(np.argmin(total)), total.shape)
        chosen = [kept[k] for kept, k in zip(self.held, at, strict=True)]
        if self.instance.order == "given":
            return list(range(self.count)), chosen
        steps, open_ = [], all_open
        while open_:
            after = {step: open_ & ~_mask(step) for step in self.steps(open_)}
            step = min(after, key=lambda s: self.price(s)[at] + self.of_open[after[s]][at])
            # Only the first that is chosen may be short, and it comes last.
            steps.append(step)
            open_ = after[step]
        steps.sort(key=len, reverse=True)
        return [t for step in steps for t in step], chosen

    def least(self, open_: int) -> Any:
        """Return the least cost of the steps of open batches."""
        if open_ not in self.of_open:
            best: Any = None
            for step in self.steps(open_):
                if self.clock.expired:
                    raise OutOfTimeError
                cost = self.price(step) + self.least(open_ & ~_mask(step))
                best = cost if best is None else np.minimum(best, cost)
            self.of_open[open_] = best
        return self.of_open[open_]

    def steps(self, open_: int) -> list[Step]:
        """Return the steps that may be filled next."""
        rest = [t for t in range(self.count) if open_ >> t & 1]
        short = len(rest) % self.width
        steps = permutations(rest, short or self.width)
        return [step for step in steps if short or rest[0] in step]

    def price(self, step: Step) -> Any:
        """Return what the slowest GPU of a step pays."""
        if step not in self.of_step:
            parts = []
            peers = peers_of_each(self.instance, step)
            for d, nodes in enumerate(asked(self.instance, step)):
                # All are looked up and loaded; of what is held the load is saved.
                full = peers[d] + (self.miss + self.cost.lookup) * len(nodes)
                saved = self.miss - self.cost.hit
                found = [len(set(nodes).intersection(kept)) for kept in self.held[d]]
                parts.append(self._along(d, [full - saved * n for n in found]))
            self.of_step[step] = reduce(np.maximum, parts)
        return self.of_step[step]

    def _along(self, d: int, costs: Sequence[int]) -> Any:
        """Return costs by what GPU d holds as an array over what all hold."""
        shape = [1] * self.width
        shape[d] = len(costs)
        return np.array(costs, dtype=self.dtype).reshape(shape)


def _mask(step: Step) -> int:
    return sum(1 << t for t in step)
