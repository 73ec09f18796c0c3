r"""Schedules of the pool by local search over the order of a list schedule.

Each job of a list in turn starts as early as it fits. The GPUs in use are kept tick by tick as bits
of whole numbers, one number for each binary digit, so that adding a job or finding the ticks with
room for it takes a few operations on numbers as long as the horizon.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock

from ..relaxations import Pool

#: Steps without improvement after which the search begins anew from a disturbed best order.
PATIENCE = 400
#: Random moves of a disturbance.
KICK = 6


class Decoder:
    """Turns orders of the pool's jobs into starts."""

    def __init__(self, pool: Pool):
        self.release = [int(r) for r in pool.release]
        self.ticks = [int(d) for d in pool.duration]
        self.gpus = [int(g) for g in pool.gpus]
        self.weight = [int(w) for w in pool.weight]
        self.capacity = pool.total_gpus
        horizon = max(self.release) + sum(self.ticks) + max(self.ticks)
        self.everywhere = (1 << horizon) - 1
        self.digits = range(self.capacity.bit_length() + 1)

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
    pool: Pool, steps: int, rng: np.random.Generator, clock: Clock
) -> tuple[int, Ints]:
    """Return the value, times the weight scale, and the starts of a good schedule of the pool.

    Parameters
    ----------
    pool : Pool
    steps : int
        Orders tried, besides the first few.
    rng : numpy.random.Generator
    clock : Clock
    """
    decoder = Decoder(pool)
    n = len(pool.release)
    share = pool.work / pool.total_gpus
    keys = (
        pool.release + pool.duration,
        pool.release + share / pool.weight,
        share / pool.weight,
        pool.duration / pool.weight,
        pool.release + pool.duration + share,
    )
    orders = [np.argsort(key, kind="stable").tolist() for key in keys]
    value, order = min((decoder.starts(order)[0], order) for order in orders)
    best, best_order = value, order
    failures = 0
    draws = rng.random((max(1, steps), 3)).tolist()
    for kind, first, second in draws[: steps if n > 1 else 0]:
        if clock.expired:
            break
        if failures >= PATIENCE:
            order, failures = list(best_order), 0
            for a, b in rng.integers(n, size=(KICK, 2)).tolist():
                order.insert(b, order.pop(a))
            value = decoder.starts(order)[0]
        changed = list(order)
        a = int(first * n)
        b = int(second * n)
        if kind < 0.5:
            changed[a], changed[b] = changed[b], changed[a]
        else:
            changed.insert(b, changed.pop(a))
        new = decoder.starts(changed)[0]
        failures = 0 if new < value else failures + 1
        if new <= value:
            value, order = new, changed
        if value < best:
            best, best_order = value, order
    best, starts = decoder.starts(best_order)
    return best, np.array(starts, dtype=np.int64)
