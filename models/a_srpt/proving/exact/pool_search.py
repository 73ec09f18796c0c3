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

from ...relaxations import Pool

#: Steps of an annealing: as many for each job, but no more in all.
#: Tuned: `benchmarks/constants.py`.
STEPS_A_JOB, LONGEST_ANNEALING = 120, 4000
#: First and last temperature, as parts of the distance of the first schedule from B0.
#: Tuned: `benchmarks/constants.py`.
HOT, COLD = 0.03, 0.0003
#: Part of the moves that go anywhere; the others go this far in the list.
#: Tuned: `benchmarks/constants.py`.
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
        self.lowest: int = sum(
            w * (r + d) for w, r, d in zip(self.weight, self.release, self.ticks, strict=True)
        )

    def starts(self, order: Sequence[int]) -> tuple[int, list[int]]:
        """Return the weighted sum of completions, times the weight scale, and the starts."""
        starts = [0] * len(order)
        waited = self.place(order, self.nothing(), starts, math.inf)
        return self.lowest + int(waited), starts

    def nothing(self) -> list[int]:
        """Return the GPUs in use before any job is placed."""
        return [0 for _ in self.digits]

    def place(self, order: Sequence[int], used: list[int], starts: list[int], most: float) -> float:
        """Let jobs start as early as they fit; return the weighted sum of what they wait.

        Parameters
        ----------
        order : sequence of int
        used : list of int
            GPUs in use; the jobs are added.
        starts : list of int
            Where the starts of these jobs are put.
        most : float
            A sum above this is returned as infinite, as soon as it is known.
        """
        waited = 0
        for j in order:
            ticks, release = self.ticks[j], self.release[j]
            free = self._free(used, self.capacity - self.gpus[j]) >> release
            run = 1
            while run < ticks:
                step = min(run, ticks - run)
                free &= free >> step
                run += step
            wait = (free & -free).bit_length() - 1
            waited += self.weight[j] * wait
            if waited > most:
                return math.inf
            starts[j] = release + wait
            self.add(used, j, starts[j])
        return waited

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

    def add(self, used: list[int], j: int, start: int) -> None:
        """Add a job to the GPUs in use."""
        window = ((1 << self.ticks[j]) - 1) << start
        gpus, carry, k = self.gpus[j], 0, 0
        while gpus or carry:
            digit, added = used[k], window if gpus & 1 else 0
            used[k] = digit ^ added ^ carry
            carry = digit & added | carry & (digit ^ added)
            gpus >>= 1
            k += 1


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
    tried = []
    for order in _first_orders(pool):
        tried.append((decoder.starts(order)[0], order))
        if clock.expired:  # jobs of millions of ticks take seconds each
            break
    value, order = min(tried)
    best = _Best(value, order, max(bound, decoder.lowest))
    steps = min(LONGEST_ANNEALING, STEPS_A_JOB * len(order))
    for _ in range(annealings if len(order) > 1 else 0):
        if not best.closed and not clock.expired:
            _anneal(decoder, order, steps, value - decoder.lowest, rng, clock, best)
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


class _Placed:
    """The jobs of an order in their places, and the GPUs in use before each job of it.

    The latter are found when they are first asked for, from those of an earlier job.
    """

    def __init__(self, decoder: Decoder, order: list[int]):
        self.decoder, self.order = decoder, order
        value, self.starts = decoder.starts(order)
        self.waited: float = value - decoder.lowest
        self._used: list[list[int]] = [decoder.nothing()]

    def changed(
        self, order: list[int], first: int, last: int, most: float
    ) -> tuple[float, list[int]]:
        """Return what the jobs wait in an order that differs between two places, and the starts.

        If they wait more than `most`, it is infinite. Where the jobs up to the second place use
        the GPUs as they did before, the others start as they did.
        """
        decoder, starts = self.decoder, list(self.starts)
        used = list(self._used_before(first))
        waited: float = self._wait(order[:first])
        waited += decoder.place(order[first:last], used, starts, most - waited)
        if waited < math.inf:
            if used == self._used_before(last):
                waited += self._wait(order[last:])
            else:
                waited += decoder.place(order[last:], used, starts, most - waited)
        return waited if waited <= most else math.inf, starts

    def _wait(self, jobs: list[int]) -> int:
        weight, release, starts = self.decoder.weight, self.decoder.release, self.starts
        return sum([weight[j] * (starts[j] - release[j]) for j in jobs])

    def _used_before(self, k: int) -> list[int]:
        """Return the GPUs in use by the first k jobs of the order."""
        while len(self._used) <= k:
            j = self.order[len(self._used) - 1]
            used = list(self._used[-1])
            self.decoder.add(used, j, self.starts[j])
            self._used.append(used)
        return self._used[k]

    def move_to(self, changed: list[int], starts: list[int], waited: float) -> None:
        """Take the starts of a changed order; in the order of starts, equal schedules are equal."""
        order = sorted(changed, key=starts.__getitem__)
        known = len(self._used) - 1
        for k, (j, before) in enumerate(zip(order[:known], self.order, strict=False)):
            if j != before or starts[j] != self.starts[j]:
                del self._used[k + 1 :]
                break
        self.order, self.starts, self.waited = order, starts, waited


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
    placed = _Placed(decoder, order)
    cooling = np.exp(np.linspace(math.log(HOT), math.log(COLD), steps))
    draws = rng.random((steps, 4))
    # A schedule that waits this much longer than the last is just taken.
    longer = (-spread * cooling * np.log(1.0 - draws[:, 3])).tolist()
    for more, (kind, first, second, _) in zip(longer, draws.tolist(), strict=True):
        a = int(first * n)
        b = int(second * n) if kind < FAR else a + int((2 * second - 1) * (NEAR + 1))
        if not 0 <= b < n or a == b:
            continue
        if clock.expired:
            return
        changed = list(placed.order)
        if kind < FAR / 2 or kind > (1 + FAR) / 2:
            changed.insert(b, changed.pop(a))
        else:
            changed[a], changed[b] = changed[b], changed[a]
        waited, starts = placed.changed(changed, min(a, b), max(a, b) + 1, placed.waited + more)
        if waited < math.inf:
            placed.move_to(changed, starts, waited)
            value = decoder.lowest + int(waited)
            if value < best.value:
                best.value, best.order = value, placed.order
                if best.closed:
                    return
