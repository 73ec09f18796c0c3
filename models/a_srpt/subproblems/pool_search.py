r"""Schedules of the pool by simulated annealing over the order of a list schedule.

Each job of a list in turn starts as early as it fits. The GPUs in use are kept tick by tick as bits
of whole numbers, one number for each binary digit, so that adding a job or finding the ticks with
room for it takes a few operations on numbers as long as the horizon.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock

from ..relaxations import Pool

#: Steps of an annealing: as many for each job, but no more in all.
STEPS_A_JOB, LONGEST_ANNEALING = 120, 4000
#: First and last temperature, as parts of the distance of the first schedule from B0.
HOT, COLD = 0.03, 0.0003
#: Part of the moves that go anywhere; the others go this far in the list.
FAR, NEAR = 0.25, 6


class Decoder:
    """Turns orders of the pool's jobs into starts."""

    def __init__(self, pool: Pool):
        self.release: list[int] = [int(r) for r in pool.release]
        self.ticks: list[int] = [int(d) for d in pool.duration]
        self.gpus: list[int] = [int(g) for g in pool.gpus]
        self.weight: list[int] = [int(w) for w in pool.weight]
        self.capacity: int = pool.total_gpus
        horizon = max(self.release) + sum(self.ticks) + max(self.ticks)
        self.everywhere: int = (1 << horizon) - 1
        self.digits: range = range(self.capacity.bit_length() + 1)

    def starts(self, order: Sequence[int]) -> tuple[int, list[int]]:
        """Return the weighted sum of completions, times the weight scale, and the starts."""
        used = [0 for _ in self.digits]
        total = 0
        starts = [0] * len(order)
        for j in order:
            ticks = self.ticks[j]
            free = self._free(used, self.capacity - self.gpus[j]) >> self.release[j]
            run = 1
            while run < ticks:
                step = min(run, ticks - run)
                free &= free >> step
                run += step
            start = self.release[j] + (free & -free).bit_length() - 1
            starts[j] = start
            total += self.weight[j] * (start + ticks)
            self._add(used, self.gpus[j], ((1 << ticks) - 1) << start)
        return total, starts

    def _free(self, used: list[int], most: int) -> int:
        """Return the ticks in which no more than `most` GPUs are in use."""
        above, equal = 0, self.everywhere
        for k in reversed(self.digits):
            if most >> k & 1:
                equal &= used[k]
            else:
                above |= equal & used[k]
                equal &= ~used[k]
        return self.everywhere & ~above

    def _add(self, used: list[int], gpus: int, window: int) -> None:
        carry = 0
        for k in self.digits:
            digit, added = used[k], window if gpus >> k & 1 else 0
            used[k] = digit ^ added ^ carry
            carry = digit & added | carry & (digit ^ added)


def pool_schedule(
    pool: Pool,
    annealings: int,
    rng: np.random.Generator,
    clock: Clock,
    bound: int = 0,
) -> tuple[int, Ints]:
    """Return the value, times the weight scale, and the starts of a good schedule of the pool.

    Parameters
    ----------
    pool : Pool
    annealings : int
        Each from the best of a few orders.
    rng : numpy.random.Generator
    clock : Clock
    bound : int
        No schedule has a smaller value: one that has it ends the search.
    """
    decoder = Decoder(pool)
    value, order = min((decoder.starts(order)[0], order) for order in _first_orders(pool))
    lowest = int((pool.weight * (pool.release + pool.duration)).sum())
    best = _Best(value, order, max(bound, lowest))
    steps = min(LONGEST_ANNEALING, STEPS_A_JOB * len(order))
    for _ in range(annealings if len(order) > 1 else 0):
        if not best.closed and not clock.expired:
            _anneal(decoder, order, steps, value - lowest, rng, clock, best)
    value, starts = decoder.starts(best.order)
    return value, np.array(starts, dtype=np.int64)


@dataclass
class _Best:
    value: int
    order: list[int]
    bound: int

    @property
    def closed(self) -> bool:
        return self.value <= self.bound


def _first_orders(pool: Pool) -> list[list[int]]:
    share = pool.work / pool.total_gpus
    keys = (
        pool.release + pool.duration,
        pool.release + share / pool.weight,
        share / pool.weight,
        pool.duration / pool.weight,
        pool.release + pool.duration + share,
    )
    return [np.argsort(key, kind="stable").tolist() for key in keys]


def _anneal(
    decoder: Decoder,
    order: list[int],
    steps: int,
    spread: int,
    rng: np.random.Generator,
    clock: Clock,
    best: _Best,
) -> None:
    """Anneal from an order; `spread`, by which it is above B0, is the unit of temperatures."""
    n = len(order)
    value, _ = decoder.starts(order)
    cooling = np.exp(np.linspace(math.log(HOT), math.log(COLD), steps))
    draws = rng.random((steps, 4))
    for temperature, (kind, first, second, luck) in zip(
        (spread * cooling).tolist(), draws.tolist(), strict=True
    ):
        a = int(first * n)
        b = int(second * n) if kind < FAR else a + int((2 * second - 1) * (NEAR + 1))
        if not 0 <= b < n or a == b:
            continue
        if clock.expired:
            return
        changed = list(order)
        if kind < FAR / 2 or kind > (1 + FAR) / 2:
            changed.insert(b, changed.pop(a))
        else:
            changed[a], changed[b] = changed[b], changed[a]
        new, starts = decoder.starts(changed)
        if new <= value or luck < math.exp((value - new) / temperature):
            # In the order of starts, equal schedules are equal orders.
            value, order = new, sorted(changed, key=starts.__getitem__)
            if value < best.value:
                best.value, best.order = value, order
                if best.closed:
                    return
