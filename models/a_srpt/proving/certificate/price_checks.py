r"""What prices of GPU-time prove: the bounds B5 (and B4) and B3, in whole numbers.

A price function :math:`\pi(t) \ge 0` is constant between the times :math:`\tau_0 < .. < \tau_K` and
0 outside; :math:`\Pi(t) = \int_0^t \pi`. For every schedule of the pool,

.. math::
    L(\pi) = \sum_j \min_{s \ge r_j} \big[ w_j (s + d_j) + g_j (\Pi(s + d_j) - \Pi(s)) \big]
             - G \Pi(\tau_K) \le \sum_j w_j C_j,

because jobs never occupy more than G GPUs. Preemptively, in unit ticks of which job j needs any
:math:`d_j`, the same prices prove

.. math::
    T(\pi) = \sum_j \Big[ \frac{w_j d_j}{2} + \frac{1}{d_j} \min_{|U| = d_j, U \ge r_j}
             \sum_{t \in U} \big( w_j (t + \tfrac12) + g_j d_j \pi_t \big) \Big]
             - G \Pi(\tau_K) \le L(\pi).

*Minima of L.* The bracket is continuous and piecewise linear in s, with slope :math:`w_j + g_j
(\pi(s + d_j) - \pi(s))`. Away from :math:`r_j` a minimum is where the slope grows: at some
:math:`\tau_k` where the price falls, or at some :math:`\tau_k - d_j` where it rises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Floats, Ints

from ...relaxations import (
    Pool,
    fraction_sum,
    whole_sum,
)

#: Terms up to this are 64-bit integers, larger ones Python integers. By definition.
INT64_SAFE = 2**61
#: Starts of jobs that are looked at in one piece. Tuned: `benchmarks/constants.py`.
BLOCK = 2**18
#: Ticks of all jobs that the check of preemptive prices may look at.
#: Tuned: `benchmarks/constants.py`.
MOST_TICKS = 10**8

Numbers = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class StepPrices:
    """A price function of time.

    Attributes
    ----------
    times : array, shape (K + 1,)
        Rising ticks.
    prices : array, shape (K,)
        Price of a GPU-tick from each time to the next; whole multiples of 1 / `denominator`, or
        doubles with the denominator 1.
    denominator : int
    """

    times: Numbers
    prices: Numbers
    denominator: int = 1


def price_bound(pool: Pool, steps: StepPrices) -> Fraction:
    """Return L of whole prices, exactly.

    Takes O(n (K + 1) log K) time.
    """
    D, q = steps.denominator, pool.weight_scale
    total_price = sum(
        p * (b - a)
        for p, a, b in zip(
            steps.prices.tolist(),
            steps.times[:-1].tolist(),
            steps.times[1:].tolist(),
            strict=True,
        )
    )
    latest = max(int(steps.times[-1]), int(pool.release.max())) + int(pool.duration.max())
    largest = D * latest * int(pool.weight.max()) + q * int(pool.gpus.max()) * total_price
    dtype = np.int64 if largest <= INT64_SAFE else object
    times, prices = steps.times.astype(dtype), steps.prices.astype(dtype)
    weight = pool.weight.astype(dtype) * D
    gpus = pool.gpus.astype(dtype) * q
    release, duration = pool.release.astype(dtype), pool.duration.astype(dtype)
    total = -pool.total_gpus * q * total_price
    for block in blocks(len(release), len(times) + 1):
        value, _ = best_starts(
            release[block], duration[block], gpus[block], weight[block], times, prices
        )
        total += whole_sum(value)
    return Fraction(total, D * q)


def blocks(count: int, width: int) -> list[slice]:
    """Return slices of rows of this width that have about `BLOCK` entries each."""
    step = max(1, BLOCK // width)
    return [slice(k, k + step) for k in range(0, count, step)]


def best_starts(
    release: Numbers,
    duration: Numbers,
    gpus: Numbers,
    weight: Numbers,
    times: Numbers,
    prices: Numbers,
) -> tuple[Numbers, Numbers]:
    """Return each job's least cost under prices, and a start that attains it.

    Works for integers and for doubles; arrays of jobs have shape (jobs,).
    """
    jump = np.diff(prices, prepend=0, append=0)
    falls, rises = times[jump < 0], times[jump > 0]
    d = duration[:, None]
    starts = np.concatenate(
        [release[:, None], np.broadcast_to(falls, (len(d), len(falls))), rises - d], axis=1
    )
    starts = np.maximum(starts, release[:, None])
    paid = cumulated(times, prices, starts + d) - cumulated(times, prices, starts)
    cost = weight[:, None] * (starts + d) + gpus[:, None] * paid
    best = cost.argmin(axis=1)
    row = np.arange(len(best))
    return cost[row, best], starts[row, best]


def cumulated(times: Numbers, prices: Numbers, at: Numbers) -> Numbers:
    r"""Return :math:`\Pi` at each of some times."""
    before = np.concatenate([[0], np.cumsum(prices * np.diff(times))])
    slope = np.append(prices, 0)
    held = np.clip(at, times[0], times[-1])
    k = np.searchsorted(times, held, side="right") - 1
    return before[k] + slope[k] * (held - times[k])


def preemptive_price_bound(pool: Pool, steps: StepPrices) -> Fraction:
    """Return T of whole prices, exactly up to `fraction_sum`.

    Raises
    ------
    ValueError
        If there are too many ticks to look at.
    """
    start, end = int(steps.times[0]), int(steps.times[-1])
    reach = max(end, int(pool.release.max())) + int(pool.duration.max())
    if reach * len(pool.release) > MOST_TICKS:
        raise ValueError(f"times: {reach} ticks of {len(pool.release)} jobs are too many to check")
    D, q = steps.denominator, pool.weight_scale
    highest = int(steps.prices.max())
    rows = zip(
        *(x.tolist() for x in (pool.release, pool.duration, pool.gpus, pool.weight)), strict=True
    )
    largest = 2 * q * highest * int(pool.work.max()) + D * int(pool.weight.max()) * (2 * reach + 1)
    dtype = np.int64 if largest * int(pool.duration.max()) <= INT64_SAFE else object
    per_tick = np.zeros(reach, dtype=dtype)
    per_tick[start:end] = np.repeat(steps.prices.astype(dtype), np.diff(steps.times).astype(int))
    middle = 2 * np.arange(reach).astype(dtype) + 1
    numerators: dict[int, int] = {}
    for r, d, g, w in rows:
        # Twice the cost of every tick, in units of 1 / (D q).
        cost = D * w * middle[r:] + 2 * q * g * d * per_tick[r:]
        cheapest = int(np.sort(cost)[:d].sum()) if dtype is object else _least(cost, d)
        numerators[d] = numerators.get(d, 0) + cheapest + D * w * d * d
    charged = 2 * q * pool.total_gpus * sum(per_tick.tolist())
    return (fraction_sum(numerators) - charged) / (2 * D * q)


def _least(cost: Ints, count: int) -> int:
    return int(np.partition(cost, count - 1)[:count].sum())


def gpu_ticks_used(times: Floats, start: Floats, duration: Floats, gpus: Floats) -> Floats:
    """Return the GPU-ticks that jobs use in each interval of a grid, shape (K,)."""
    used = np.zeros(len(times))
    for sign, at in ((1.0, start), (-1.0, start + duration)):
        k = np.searchsorted(times, at)
        count = np.bincount(k, gpus, minlength=len(times) + 1)[: len(times)]
        moment = np.bincount(k, gpus * at, minlength=len(times) + 1)[: len(times)]
        used += sign * (times * np.cumsum(count) - np.cumsum(moment))
    return np.diff(used)


def as_steps(times: Sequence[int], prices: Sequence[int], denominator: int) -> StepPrices:
    """Return a certificate's prices as arrays, of Python integers where 64 bits are too few."""

    def array(numbers: Sequence[int]) -> Numbers:
        small = max(numbers, default=0) <= INT64_SAFE
        return np.array(numbers, dtype=np.int64 if small else object)

    return StepPrices(array(times), array(prices), denominator)
