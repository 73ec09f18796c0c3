r"""The bound that prices by size of job prove, where a price knows which jobs may run together.

At any time a job is *in time* if it would run throughout the interval of prices had it started at
its release, else it is *late*. Of each number of GPUs, so many jobs are in time in an interval and
so many late; whatever runs together is some of them, and takes no more than G GPUs. Prices
:math:`\pi_{q}(t) \ge 0` of a tick of jobs of q GPUs in time and :math:`\pi'_{q}(t) \ge 0` of late
ones never bring in more than the knapsack

.. math::
    P(t) = \max \Big\{ \sum_q (n_q \pi_q(t) + n'_q \pi'_q(t)) : \sum_q q\, (n_q + n'_q) \le G,\
           n_q \le N_q(t),\ n'_q \le N'_q(t) \Big\}.

With :math:`\pi_j` the one of the two that job j pays, for every schedule of the pool

.. math::
    \sum_j \min_{s \ge r_j} \Big[ w_j (s + d_j) + \int_s^{s + d_j} \pi_j \Big] - \int P(t)\, dt
    \le \sum_j w_j C_j.

A job that takes longer than :math:`d_j`, as it may on servers, pays no less. Prices q times that of
a GPU-tick prove no less than `price_checks`; what these cannot see is that the long jobs of few
GPUs leave room for no whole large job. The bracket is piecewise linear in s, with corners at the
times of prices and a duration before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from gadgetopt.numbers.arrays import Bools, Ints
from gadgetopt.numbers.memory import MOST_CELLS

from ...relaxations import Pool
from .price_checks import INT64_SAFE, Numbers, best_starts, blocks

#: Numbers that the knapsacks of a check may write, about five nanoseconds each, and how many times
#: as long one larger than 64 bits takes. Tuned: `benchmarks/constants.py`.
MOST_WRITTEN, LARGE = 2 * 10**9, 30
#: A start later than all. By definition.
ANY_TIME = 2**62


def who_pays(
    pool: Pool, earliest: Ints, latest: Ints, times: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Return what prices by size tell apart on a grid of K intervals, of starts in windows.

    A job that would run throughout an interval from the first as from the last start of its window
    is certain there: it pays nothing, and leaves the others less room.

    Returns
    -------
    sizes : array of int, shape (sizes,)
        Numbers of GPUs that jobs have, rising.
    item : array of int, shape (jobs, K)
        Row of the prices that a job pays: in time, after these late, then none.
    counts : array of int, shape (2 sizes, K)
        Jobs that may pay the prices of each row.
    room : array of int, shape (K,)
        GPUs that certain jobs leave; negative if there is no such schedule.
    """
    sizes, of_job = np.unique(pool.gpus, return_inverse=True)
    begin, end = times[:-1], times[1:]
    first, last, ticks = earliest[:, None], latest[:, None], pool.duration[:, None]
    throughout = (first <= begin) & (end <= first + ticks)
    certain = throughout & (last <= begin)
    late = (first < end) & (begin < last + ticks) & ~throughout
    item = np.where(late, len(sizes) + of_job[:, None], 2 * len(sizes))
    item = np.where(throughout & ~certain, of_job[:, None], item)
    counts = np.array([(item == row).sum(axis=0) for row in range(2 * len(sizes))])
    return sizes, item, counts, pool.total_gpus - pool.gpus @ certain


def sizes_in_time(pool: Pool, times: Ints) -> tuple[Ints, Bools, Ints]:
    """Return the sizes of `who_pays`, which jobs are in time, and counts, of any start."""
    sizes, item, counts, _ = who_pays(
        pool, pool.release, np.full(len(pool.release), ANY_TIME), times
    )
    return sizes, item < len(sizes), counts


def bound_of_sizes(
    pool: Pool,
    times: Sequence[int],
    in_time: Sequence[Sequence[int]],
    late: Sequence[Sequence[int]],
    denominator: int,
) -> Fraction:
    """Return the bound that whole prices by size prove, exactly.

    Parameters
    ----------
    pool : Pool
    times : sequence of int, length K + 1
        Rising ticks.
    in_time, late : sequence of row, shape (sizes, K)
        Of jobs of every size, the smallest first: their prices between these ticks, times the
        denominator.
    denominator : int

    Raises
    ------
    ValueError
        If the rows are not those of the sizes of the pool, or take too long to check.
    """
    if (len(times) - 1) * len(pool.release) > MOST_CELLS:
        raise ValueError(f"times: {len(times) - 1} intervals are too many for the pool to check")
    grid = np.array(times, dtype=np.int64)
    sizes, mask, counts = sizes_in_time(pool, grid)
    for name, rows in (("in_time", in_time), ("late", late)):
        if len(rows) != len(sizes):
            raise ValueError(
                f"{name}: {len(rows)} rows, expected {len(sizes)}, one for each size of the jobs"
            )
    lengths = [b - a for a, b in pairwise(times)]
    highest = [max(prices) for prices in zip(*in_time, *late, strict=True)]
    dearest = sum(n * p for n, p in zip(lengths, highest, strict=True))
    scale, weight = pool.weight_scale, pool.weight.tolist()
    latest = max(times[-1], int(pool.release.max())) + int(pool.duration.max())
    most = denominator * latest * max(weight) + scale * len(weight) * dearest
    kind: type = np.int64 if most <= INT64_SAFE else object
    if takes_long(pool.total_gpus, np.tile(sizes, 2), counts, LARGE if kind is object else 1):
        raise ValueError(f"times: {len(times) - 1} intervals are too many for the pool to check")
    prices: Numbers = np.array([*in_time, *late], dtype=kind)
    total = 0
    size = np.searchsorted(sizes, pool.gpus).tolist()
    for j, (q, w) in enumerate(zip(size, weight, strict=True)):
        mine = np.where(mask[j], prices[q], prices[len(sizes) + q])
        r, d = int(pool.release[j]), int(pool.duration[j])
        numbers: list[Numbers] = [np.array([x], kind) for x in (r, d, scale, denominator * w)]
        r_j, d_j, g_j, w_j = numbers
        value, _ = best_starts(r_j, d_j, g_j, w_j, grid.astype(kind), mine)
        total += int(value[0])
    knapsacks = most_paid(pool.total_gpus, np.tile(sizes, 2), counts, prices)
    total -= scale * sum(n * int(p) for n, p in zip(lengths, knapsacks, strict=True))
    return Fraction(total, denominator * scale)


def most_paid(
    gpus: int, sizes: Ints, counts: Ints, prices: Numbers, room: Ints | None = None
) -> Numbers:
    """Return the most that jobs which run together pay, in each interval: bounded knapsacks.

    Parameters
    ----------
    gpus : int
    sizes : array of int, shape (items,)
    counts : array of int, shape (items, K)
    prices : array, shape (items, K)
        None is negative.
    room : array of int, shape (K,), optional
        GPUs of each interval, if it has not all.

    Notes
    -----
    Every number up to N is a sum of some of 1, 2, 4, .. and a rest, so these are the items.
    """
    gpus = needed(gpus, sizes, counts)
    room = np.full(counts.shape[1], gpus) if room is None else np.minimum(room, gpus)
    every = [
        _most_paid(room[block], sizes, counts[:, block], prices[:, block])
        for block in blocks(counts.shape[1], gpus + 1)
    ]
    return np.concatenate(every)


def _most_paid(room: Ints, sizes: Ints, counts: Ints, prices: Numbers) -> Numbers:
    gpus, every = int(room.max()), np.arange(len(room))
    best = np.zeros((counts.shape[1], gpus + 1), dtype=prices.dtype)
    for size, count, price in zip(sizes.tolist(), counts, prices, strict=True):
        left, piece = np.where(price > 0, np.minimum(count, gpus // size), 0), 1
        while left.any():
            taken = np.minimum(piece, left)
            for n in set(taken.tolist()) - {0}:
                at, held = np.flatnonzero(taken == n), n * size
                paid = best[at, : gpus + 1 - held] + n * price[at, None]
                best[at, held:] = np.maximum(best[at, held:], paid)
            left, piece = left - taken, 2 * piece
    return best[every, room]


def needed(gpus: int, sizes: Ints, counts: Ints) -> int:
    """Return the GPUs that all jobs together take at most: a knapsack has no use for more."""
    return min(gpus, int((sizes @ counts).max()))


def takes_long(gpus: int, sizes: Ints, counts: Ints, each: int = 1) -> bool:
    """Return True if `most_paid` may take too long, or too much memory for one interval.

    Parameters
    ----------
    gpus, sizes, counts
        As there.
    each : int
        How many times as long a number takes as one of 64 bits.
    """
    gpus = needed(gpus, sizes, counts)
    most = np.minimum(counts.max(axis=1), gpus // sizes).tolist()
    written = counts.shape[1] * (gpus + 1) * sum(n.bit_length() for n in most)
    return written * each > MOST_WRITTEN or (gpus + 1) * each > MOST_CELLS
