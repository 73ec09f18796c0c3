r"""The pool relaxation's data, and its bounds B0, B1 and B2 in whole numbers.

The pool has one resource, the G GPUs of the cluster, of which job j takes :math:`g_j` for
:math:`d_j` ticks, its shortest duration. All values are in weighted ticks.

.. math::
    B_0 &= \sum_j w_j (r_j + d_j), \\
    B_1 &= \min_j w_j \sum_j C_j^{SRPT}, \\
    B_2 &= \sum_j w_j \Big( M_j^{WSPT} + \frac{d_j}{2} \Big),

with completions :math:`C_j` and mean busy times :math:`M_j` on one preemptive machine that works
off :math:`v_j = g_j d_j` microticks of each job, a tick having G microticks. The machine imitates
any schedule of the pool: while job j runs there, it gets the share :math:`g_j / G` of the machine.
SRPT minimises the sum of completions, and static priorities :math:`w_j / v_j` minimise
:math:`\sum w_j M_j` (Goemans 1996); in the pool :math:`C_j = M_j + d_j / 2`. A sum of completions,
each weighted at least :math:`\min w_j`, gives B1 for weighted jobs.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.numbers.arrays import Ints

if TYPE_CHECKING:
    from .instance import ASrptInstance

#: Sums of fractions with a common denominator of more binary digits are rounded down to multiples
#: of 2^-`FRACTION_BITS`. Tuned: `benchmarks/constants.py`.
MOST_DENOMINATOR_BITS, FRACTION_BITS = 2048, 64


@dataclass(frozen=True, eq=False)
class Pool:
    """Jobs of the pool relaxation; arrays of shape (jobs,).

    Attributes
    ----------
    release, duration : array of int
        r_j and d_j, ticks.
    gpus : array of int
        g_j.
    weight : array of int
        w_j times `weight_scale`.
    weight_scale : int
    total_gpus : int
        G.
    """

    release: Ints
    gpus: Ints
    duration: Ints
    weight: Ints
    weight_scale: int
    total_gpus: int

    @property
    def work(self) -> Ints:
        """v_j = g_j d_j, GPU-ticks."""
        return self.gpus * self.duration


def pool_of(instance: ASrptInstance) -> Pool:
    """Return the pool relaxation of an instance: its servers are forgotten."""
    return Pool(
        instance.release_ticks,
        instance.gpus,
        instance.min_ticks,
        instance.whole_weights,
        instance.weight_scale,
        instance.total_gpus,
    )


def release_bound(pool: Pool) -> Fraction:
    """Return B0: every job starts at its release."""
    total = whole_sum(pool.weight * (pool.release + pool.duration))
    return Fraction(total, pool.weight_scale)


def srpt_bound(pool: Pool) -> Fraction:
    """Return B1, the preemptive single machine's sum of completions times the least weight."""
    G = pool.total_gpus
    work = pool.work.tolist()
    completion, _ = preemptive_schedule((pool.release * G).tolist(), work)
    least = int(pool.weight.min())
    return Fraction(least * sum(completion), pool.weight_scale * G)


def busy_time_bound(pool: Pool) -> Fraction:
    """Return B2, by mean busy times; beyond `MOST_DENOMINATOR_BITS` slightly rounded down."""
    G = pool.total_gpus
    work, weight = pool.work.tolist(), pool.weight.tolist()
    pairs = sorted(set(zip(work, weight, strict=True)), key=lambda p: Fraction(p[0], p[1]))
    rank = {pair: k for k, pair in enumerate(pairs)}
    priority = [rank[pair] for pair in zip(work, weight, strict=True)]
    _, squares = preemptive_schedule((pool.release * G).tolist(), work, priority)
    numerators: dict[int, int] = {}
    for v, w, square in zip(work, weight, squares, strict=True):
        numerators[v] = numerators.get(v, 0) + w * square
    halves = whole_sum(pool.weight * pool.duration)
    return (fraction_sum(numerators) / G + halves) / (2 * pool.weight_scale)


def preemptive_schedule(
    release: Sequence[int], work: Sequence[int], priority: Sequence[int] | None = None
) -> tuple[list[int], list[int]]:
    """Run jobs on one machine with preemption.

    Parameters
    ----------
    release, work : sequence of int
        Microticks.
    priority : sequence of int, optional
        Least first; without it the shortest remaining work comes first.

    Returns
    -------
    completion : list of int
        Ends of jobs.
    squares : list of int
        Sums of :math:`b^2 - a^2` over the pieces [a, b) of each job, twice its mean busy time times
        its work.

    Notes
    -----
    O(n log n): of the waiting jobs only the running one changes its key.
    """
    jobs = sorted(range(len(work)), key=lambda j: release[j])
    left = list(work)
    completion, squares = [0] * len(work), [0] * len(work)
    heap: list[tuple[int, int]] = []
    now, coming = 0, 0
    while heap or coming < len(jobs):
        if not heap:
            now = max(now, release[jobs[coming]])
        while coming < len(jobs) and release[jobs[coming]] <= now:
            j = jobs[coming]
            heapq.heappush(heap, (left[j] if priority is None else priority[j], j))
            coming += 1
        j = heap[0][1]
        end = now + left[j]
        if coming < len(jobs):
            end = min(end, release[jobs[coming]])
        squares[j] += end * end - now * now
        left[j] -= end - now
        if left[j] == 0:
            completion[j] = end
            heapq.heappop(heap)
        elif priority is None:
            heapq.heapreplace(heap, (left[j], j))
        now = end
    return completion, squares


def fraction_sum(numerators: Mapping[int, int]) -> Fraction:
    """Return a sum of fractions, given the numerator of each denominator.

    Exact, unless the common denominator has more than `MOST_DENOMINATOR_BITS`: then every fraction
    is rounded down to a multiple of 2^-`FRACTION_BITS`.
    """
    common = 1
    for d in numerators:
        common = math.lcm(common, d)
        if common.bit_length() > MOST_DENOMINATOR_BITS:
            whole = sum((n << FRACTION_BITS) // d for d, n in numerators.items())
            return Fraction(whole, 1 << FRACTION_BITS)
    return Fraction(sum(n * (common // d) for d, n in numerators.items()), common)


def whole_sum(numbers: Ints) -> int:
    """Return the sum of an array of integers, which may itself be larger than 64 bits."""
    if numbers.dtype == object:
        return int(numbers.sum())
    return (int((numbers >> 31).sum()) << 31) + int((numbers & (2**31 - 1)).sum())


def lattice_ceiling(pool: Pool, bound: Fraction) -> Fraction:
    """Return the least value that an optimum can have, not below a bound.

    Releases and durations are whole ticks, so some optimal schedule starts every job at a release
    or a completion, and all its completions are whole: the optimum is a multiple of the weights'
    greatest common divisor.
    """
    unit = Fraction(int(np.gcd.reduce(pool.weight)), pool.weight_scale)
    return math.ceil(bound / unit) * unit
