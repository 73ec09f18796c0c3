r"""What prices say of starts: how much more a schedule costs in which a job starts at a tick.

With prices :math:`\pi` of a GPU-tick and :math:`\Pi(t) = \sum_{t' < t} \pi_{t'}`, the Lagrangian
bound (6) is

.. math:: L(\pi) = \sum_j \min_{t \ge r_j} c_j(t) - G\, \Pi(H), \qquad
          c_j(t) = w_j (t + d_j) + g_j (\Pi(t + d_j) - \Pi(t)).

A schedule that starts job j at t costs at least :math:`L(\pi) + c_j(t) - \min_t c_j(t)`. Only
schedules below some cost are of interest, so a start that costs too much is left out; all of this
is computed in whole numbers. In (F) a job may take longer, which makes no start cheaper: the starts
that are left hold there, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.numbers.memory import MOST_CELLS

from ..relaxations import Pool

#: Jobs times ticks that a table of starts may have.
MOST_STARTS = MOST_CELLS // 4
#: Prices have this many binary digits after the point, as far as sums stay within 64 bits.
#: By definition.
MOST_BITS, SAFE_BITS = 16, 60


@dataclass(frozen=True)
class Starts:
    """The starts that a schedule below some cost may have.

    Attributes
    ----------
    allowed : array of bool, shape (jobs, ticks)
    bound : Fraction
        Of the prices, times the weight scale.
    above : array of int, shape (jobs, ticks)
        Cost of a start above that of the job's cheapest, in parts of the objective's unit.
    prices : array of int, shape (ticks,)
        Of a GPU-tick, in the same parts.
    spare : int
        What such a schedule may cost above the bound, in these parts.
    denominator : int
        Parts of a unit of the objective times the weight scale.
    """

    allowed: Bools
    bound: Fraction
    above: Ints
    prices: Ints
    spare: int
    denominator: int

    @property
    def none_better(self) -> bool:
        """True if some job has no start left: no schedule costs less than was asked."""
        return not bool(self.allowed.any(axis=1).all())


def better_starts(pool: Pool, prices: Floats, value: int) -> Starts:
    """Return the starts that a schedule of value below `value` may have, by rounded prices.

    Parameters
    ----------
    pool : Pool
    prices : array of float, shape (ticks,)
        Of a GPU-tick, in the objective's unit.
    value : int
        Times the weight scale.

    Raises
    ------
    ModelRefused
        If jobs times ticks are too many, or costs have too many digits.
    """
    ticks = _ticks(pool, value)
    scaled = prices[:ticks] * pool.weight_scale
    size = float((pool.weight * (ticks + pool.duration)).sum()) + value
    size += float(scaled.sum()) * (pool.total_gpus + pool.gpus.sum())
    digits = min(MOST_BITS, math.floor(SAFE_BITS - math.log2(size)))
    if digits < 0:
        raise ModelRefused(f"jobs: costs up to {size:.2g} have too many digits (use longer ticks)")
    whole = np.round(scaled * 2**digits).astype(np.int64)
    return starts_below(pool, whole, 2**digits, value)


def starts_below(pool: Pool, prices: Ints, denominator: int, value: int) -> Starts:
    """Return the starts that a schedule of value below `value` may have, exactly.

    Parameters
    ----------
    pool : Pool
    prices : array of int, shape (any,)
        Of a GPU-tick from 0 on, times the weight scale and `denominator`; none are negative.
    denominator : int
    value : int
        Times the weight scale.

    Raises
    ------
    ModelRefused
        If jobs times ticks are too many, or costs have too many digits.
    """
    r, d, w = pool.release, pool.duration, pool.weight
    ticks, latest = _ticks(pool, value), _latest(pool, value)
    prices = prices[:ticks]
    # No number below is larger than this.
    size = denominator * sum((w * (ticks + d)).tolist()) + denominator * value
    size += sum(prices.tolist()) * (pool.total_gpus + int(pool.gpus.sum()))
    if size.bit_length() > SAFE_BITS + 1:
        raise ModelRefused(f"jobs: costs up to {size:.2g} have too many digits (use longer ticks)")
    whole = np.zeros(ticks + 1, dtype=np.int64)
    whole[1 : len(prices) + 1] = prices
    paid = np.cumsum(whole)
    at = np.arange(ticks)
    end = np.minimum(at + d[:, None], ticks)
    cost = denominator * w[:, None] * (at + d[:, None]) + pool.gpus[:, None] * (
        paid[end] - paid[at]
    )
    possible = (at >= r[:, None]) & (at <= latest[:, None])
    released = np.where(at >= r[:, None], cost, np.iinfo(np.int64).max)
    least = released.min(axis=1)
    bound = sum(least.tolist()) - pool.total_gpus * int(paid[-1])
    step = int(np.gcd.reduce(w))
    most = denominator * ((value - 1) // step * step) - bound
    above = cost - least[:, None]
    allowed = possible & (above <= most)
    return Starts(allowed, Fraction(bound, denominator), above, whole[1:], most, denominator)


def _latest(pool: Pool, value: int) -> Ints:
    """Return the latest start of each job if all others end as soon as they can."""
    soonest = pool.weight * (pool.release + pool.duration)
    return pool.release + (value - int(soonest.sum())) // pool.weight


def _ticks(pool: Pool, value: int) -> int:
    """Return the ticks within which schedules below a value lie, at least one start each job."""
    latest = np.maximum(_latest(pool, value), pool.release)
    ticks = int((latest + pool.duration).max()) + 1
    check_ticks(pool, ticks)
    return ticks


def check_ticks(pool: Pool, ticks: int) -> None:
    """Raise ModelRefused if a table of the jobs' starts at so many ticks would be too large."""
    if ticks * len(pool.release) > MOST_STARTS:
        raise ModelRefused(
            f"{len(pool.release)} jobs in {ticks} ticks make more than {MOST_STARTS} starts "
            "(use longer ticks)"
        )


def classes(pool: Pool) -> list[list[int]]:
    """Return the jobs by (g, d, w), each class by release."""
    classes: dict[tuple[int, int, int], list[int]] = {}
    for j in np.argsort(pool.release, kind="stable").tolist():
        key = (int(pool.gpus[j]), int(pool.duration[j]), int(pool.weight[j]))
        classes.setdefault(key, []).append(j)
    return list(classes.values())
