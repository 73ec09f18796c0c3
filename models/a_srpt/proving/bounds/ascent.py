"""Ascent over prices in doubles, from coarse to fine grids; what it finds is checked elsewhere.

A Lagrangian bound L of prices is concave and piecewise linear. Its subgradient is the excess of
demand over capacity in each interval. A step towards a target above the best value known has
Polyak's length, in the norm in which an interval weighs by its length; the target comes closer each
time it is not reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.search.clock import Clock

from ...relaxations import Pool
from ..certificate.price_checks import (
    StepPrices,
    blocks,
    gpu_ticks_used,
)
from .smith_prices import SmithPrices

#: Tries without a better value before the target is brought nearer.
#: Tuned: `benchmarks/constants.py`.
PATIENCE = 6
#: Targets nearer than this part of the value end an ascent. Tuned: `benchmarks/constants.py`.
NEAR = 1e-6
#: Part of the value by which the first target is above it, and that of a refined grid.
#: Tuned: `benchmarks/constants.py`.
FIRST_TARGET, NEXT_TARGET = 0.03, 1e-3
#: Longest horizon, in ticks, of which a table of prices is kept.
MOST_TABLED = MOST_CELLS // 4
#: Ticks of a table take as long to fill in as one interpolation. Tuned: `benchmarks/constants.py`.
TICKS_A_LOOKUP = 4

#: Value, subgradient of shape (resources, K) and best starts of the jobs.
Evaluated = tuple[float, Floats, Floats]


@dataclass(frozen=True, eq=False)
class Ascended:
    """Best prices found on one grid.

    Attributes
    ----------
    value : float
        Their bound.
    prices : array of float, shape (resources, K)
    starts : array of float, shape (jobs,)
        Where the jobs start under these prices.
    slack : float
        How far above the value the last target was.
    """

    value: float
    prices: Floats
    starts: Floats
    slack: float


def ascend(
    evaluate: Callable[[Floats], Evaluated],
    prices: Floats,
    lengths: Floats,
    iterations: int,
    slack: float,
    clock: Clock,
) -> Ascended:
    """Raise a bound by changing its prices on a fixed grid.

    Parameters
    ----------
    evaluate : callable
    prices : array of float, shape (resources, K)
        Where to begin.
    lengths : array of float, shape (K,)
        Ticks of the intervals.
    iterations : int
        Most evaluations; at least one is made.
    slack : float
        Distance of the first target.
    clock : Clock
    """
    best: Ascended | None = None
    best_gradient = prices
    tries = 0
    for _ in range(max(1, iterations)):
        value, gradient, starts = evaluate(prices)
        if best is None or value > best.value:
            tries = 0 if best is None or value > best.value + 0.1 * slack else tries + 1
            best, best_gradient = Ascended(value, prices, starts, slack), gradient
        else:
            tries += 1
        if tries >= PATIENCE:
            slack, tries = slack / 2, 0
            prices, gradient, value = best.prices, best_gradient, best.value
        if slack < NEAR * abs(best.value) or clock.expired:
            break
        norm = float((gradient**2 / lengths).sum())
        if norm == 0.0:
            break
        step = (best.value + slack - value) / norm
        prices = np.maximum(0.0, prices + step * gradient / lengths)
    assert best is not None
    return Ascended(best.value, best.prices, best.starts, slack)


@dataclass(frozen=True, eq=False)
class FloatPool:
    """The pool's jobs as doubles; weights in the objective's unit."""

    release: Floats
    gpus: Floats
    duration: Floats
    weight: Floats
    total_gpus: float

    @classmethod
    def of(cls, pool: Pool) -> FloatPool:
        """Convert a pool."""
        return cls(
            pool.release.astype(np.float64),
            pool.gpus.astype(np.float64),
            pool.duration.astype(np.float64),
            pool.weight / pool.weight_scale,
            float(pool.total_gpus),
        )

    def sample(self, count: int) -> FloatPool:
        """Return about `count` jobs, evenly over the releases, and GPUs in proportion to work."""
        order = np.argsort(self.release, kind="stable")
        picked = order[:: max(1, len(order) // count)]
        part = float((self.gpus * self.duration)[picked].sum() / (self.gpus @ self.duration))
        return FloatPool(
            self.release[picked],
            self.gpus[picked],
            self.duration[picked],
            self.weight[picked],
            self.total_gpus * part,
        )

    @property
    def horizon(self) -> float:
        """Ticks by which a schedule without much idle time has ended."""
        busy = float(self.gpus @ self.duration) / self.total_gpus
        return math.ceil(float(self.release.max() + self.duration.max()) + 1.2 * busy)

    def evaluate(self, times: Floats, prices: Floats) -> Evaluated:
        """Return the price bound, its subgradient and the starts; see `price_checks`."""
        lengths = np.diff(times)
        paid = np.concatenate([[0.0], np.cumsum(prices[0] * lengths)])
        jump = np.diff(prices[0], prepend=0.0, append=0.0)
        falls, rises = times[jump < 0], times[jump > 0]
        lookups = 2 * len(self.release) * (len(falls) + len(rises) + 1)
        at = _table(times, paid, lookups)
        total = -self.total_gpus * float(paid[-1])
        starts = np.empty(len(self.release))
        for block in blocks(len(starts), len(falls) + len(rises) + 1):
            r, d = self.release[block, None], self.duration[block, None]
            start = np.concatenate(
                [r, np.broadcast_to(falls, (len(r), len(falls))), rises - d], axis=1
            )
            np.maximum(start, r, out=start)
            cost = at(start + d)
            cost -= at(start)
            cost *= self.gpus[block, None]
            cost += self.weight[block, None] * start
            best = cost.argmin(axis=1)
            row = np.arange(len(best))
            starts[block] = start[row, best]
            total += float(cost[row, best].sum() + self.weight[block] @ self.duration[block])
        used = gpu_ticks_used(times, starts, self.duration, self.gpus)
        return total, (used - self.total_gpus * lengths)[None], starts


def _table(times: Floats, paid: Floats, lookups: int) -> Callable[[Floats], Floats]:
    """Return the function of whole ticks that is linear between the given values."""
    last = int(times[-1])
    if last > min(MOST_TABLED, TICKS_A_LOOKUP * lookups):
        return lambda at: np.interp(at, times, paid)
    table = np.interp(np.arange(last + 1), times, paid)

    def look_up(at: Floats) -> Floats:
        tick: Ints = at.astype(np.int64)
        np.minimum(tick, last, out=tick)
        return np.asarray(table[tick])

    return look_up


def first_grid(horizon: float, intervals: int) -> Floats:
    """Return whole ticks that divide the time up to a horizon evenly."""
    return np.unique(np.round(np.linspace(0.0, horizon, intervals + 1)))


def refined(times: Floats, prices: Floats) -> Floats:
    """Return a grid with every interval halved, up to a little after the last price."""
    priced = np.flatnonzero(prices.max(axis=0) > 0)
    last = int(priced.max()) + 1 if len(priced) else len(times) - 1
    last = min(len(times) - 1, last + 1 + last // 8)
    kept = times[: last + 1]
    return np.unique(np.concatenate([kept, np.round((kept[:-1] + kept[1:]) / 2)]))


def carried_over(times: Floats, prices: Floats, finer: Floats, smith: SmithPrices) -> list[Floats]:
    """Return ways to carry prices, shape (1, K), over to a finer grid.

    As they are, interpolated, as a correction of Smith's prices, or Smith's prices themselves.
    """
    middle, new_middle = ((t[:-1] + t[1:]) / 2 for t in (times, finer))
    same = prices[0, np.searchsorted(times, finer[:-1], side="right") - 1]
    of_smith = smith.on(finer)
    correction = np.interp(new_middle, middle, prices[0] - smith.on(times))
    ways = (same, np.interp(new_middle, middle, prices[0]), of_smith + correction, of_smith)
    return [np.maximum(0.0, way)[None] for way in ways]


def pool_prices(
    pool: FloatPool, intervals: int, iterations: int, sample: int, clock: Clock
) -> tuple[StepPrices, Ascended]:
    """Return good prices of GPU-time for a pool, on a grid of at most `intervals`.

    The ascent begins at Smith's prices on 16 intervals. Finer grids begin at the best of several
    ways to carry the prices over. If there are more than `sample` jobs, all but the last two grids
    look at a sample of these, and an ascent has half as many iterations.
    """
    smith = SmithPrices(pool.release, pool.gpus * pool.duration, pool.weight, pool.total_gpus)
    few = pool.sample(sample) if len(pool.release) > sample else pool
    times = first_grid(pool.horizon, min(16, intervals))
    starts, slack = [smith.on(times)[None], np.zeros((1, len(times) - 1))], FIRST_TARGET
    while True:
        last_grids = 4 * (len(times) - 1) > intervals
        jobs = pool if last_grids else few
        values = [jobs.evaluate(times, prices)[0] for prices in starts]
        k = int(np.argmax(values))
        found = ascend(
            partial(jobs.evaluate, times),
            starts[k],
            np.diff(times),
            iterations if few is pool else iterations // 2,
            slack * abs(values[k]),
            clock,
        )
        finer = refined(times, found.prices)
        if len(finer) - 1 > intervals or np.array_equal(finer, times) or clock.expired:
            break
        starts = carried_over(times, found.prices, finer, smith)
        slack = max(4 * found.slack / abs(found.value), NEXT_TARGET)
        times = finer
    if jobs is not pool:  # cut short on a sample
        value, _, at = pool.evaluate(times, found.prices)
        found = Ascended(value, found.prices, at, found.slack)
    return StepPrices(times, found.prices[0]), found
