"""The bound that prices of parts of servers prove, for the check: one job after the other.

`server_costs` has the theorem. The search computes costs in blocks of jobs of one size; here each
job is looked at alone, at all starts where its cost may be least, in whole numbers. A test holds
the two against each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ...instance import ASrptInstance
from ...mapping import fastest_mapping
from ...relaxations import Pool, pool_of
from .price_checks import INT64_SAFE

#: Whole numbers, of 64 bits where no sum is larger, else Python's.
Whole = npt.NDArray[Any]
#: For each class of servers, the smallest first, a row of prices for each size of a part.
Tables = Sequence[Sequence[Sequence[int]]]


def bound_of_parts(
    instance: ASrptInstance, times: Sequence[int], tables: Tables, denominator: int
) -> Fraction:
    """Return the bound that whole prices of parts prove, exactly.

    Parameters
    ----------
    instance : ASrptInstance
    times : sequence of int, length K + 1
        Rising ticks.
    tables : sequence of table, shape (classes, c_k, K)
        Row q - 1: prices of a part of q GPUs between these ticks, times the denominator.
    denominator : int
    """
    pool = pool_of(instance)
    servers = sorted(Counter(instance.gpus_per_server).items())
    split = _ticks_if_split(instance)
    kind = _kind(pool, split, servers, times, tables, denominator)
    paid = _Paid(times, tables, kind)
    largest, many = servers[-1][0], instance.num_servers > 1
    total = 0
    for j, (r, d, g, w) in enumerate(
        zip(
            *(x.tolist() for x in (pool.release, pool.duration, pool.gpus, pool.weight)),
            strict=True,
        )
    ):
        weight = denominator * w
        costs = []
        if g <= largest:
            costs.append(paid.least(r, d, weight, pool.weight_scale, g, whole=True))
        # At no price and from its release on, a job that is split costs that much.
        if g > 1 and many and (not costs or weight * (r + split[j]) < costs[0]):
            costs.append(paid.least(r, split[j], weight, pool.weight_scale, g, whole=False))
        total += min(costs)
    for (c, count), table in zip(servers, tables, strict=True):
        total -= pool.weight_scale * count * _collected(c, table, times)
    return Fraction(total, denominator * pool.weight_scale)


def _ticks_if_split(instance: ASrptInstance) -> list[int]:
    """Return the least duration of each job in two parts or more.

    More than two parts are not faster than two servers that hold all blocks but the smallest; a job
    that fits on no server has its shortest duration.
    """
    units = []
    for times, kind, shortest in zip(
        instance.times, instance.job_types, instance.shortest_units, strict=True
    ):
        fits, several = kind.num_gpus <= instance.largest_server, sum(kind.replicas) > 1
        most = times.room - min(times.sizes)
        units.append(fastest_mapping(times, (most, most)).bound if fits and several else shortest)
    return [instance.ticks(j, units[job.job_type]) for j, job in enumerate(instance.jobs)]


def _kind(
    pool: Pool,
    split: Sequence[int],
    servers: Sequence[tuple[int, int]],
    times: Sequence[int],
    tables: Tables,
    denominator: int,
) -> type:
    """Return the type of numbers in which no sum is too large."""
    lengths = [b - a for a, b in pairwise(times)]
    dearest = sum(
        length * max(max(row[k] for row in table) for table in tables)
        for k, length in enumerate(lengths)
    )
    latest = max(times[-1], int(pool.release.max())) + max(*split, int(pool.duration.max()))
    parts = max(int(pool.gpus.max()), servers[-1][0])
    most = denominator * latest * int(pool.weight.max()) + pool.weight_scale * parts * dearest
    return np.int64 if most <= INT64_SAFE else object


class _Paid:
    """What parts of servers pay from one tick to another."""

    def __init__(self, times: Sequence[int], tables: Tables, kind: type):
        self.kind: type = kind
        self.times: Whole = np.array(times, dtype=np.int64)
        lengths = np.diff(self.times)
        self.slopes: list[Whole] = [
            np.array([[*row, 0] for row in table], dtype=kind) for table in tables
        ]
        #: Of each size of a part, the sum of its prices up to each of the times.
        self.sums: list[Whole] = []
        for slope in self.slopes:
            sums = np.zeros_like(slope)
            sums[:, 1:] = np.cumsum(slope[:, :-1] * lengths, axis=1)
            self.sums.append(sums)

    def least(self, r: int, d: int, weight: int, scale: int, g: int, *, whole: bool) -> int:
        """Return the least cost of a job of d ticks on g GPUs, on one server or on several."""
        starts = np.unique(np.concatenate([[r], self.times, self.times - d]))
        starts = starts[starts >= r]
        parts = self._parts(starts, d, g)
        price = parts[g - 1] if whole else _cheapest_split(parts, g)
        return int((weight * (starts.astype(self.kind) + d) + scale * price).min())

    def _parts(self, starts: Whole, d: int, g: int) -> Whole:
        """Return what parts of 1, 2, ... up to g GPUs pay, each on its cheapest class."""
        (k, begun), (n, ended) = self._places(starts), self._places(starts + d)
        of_class = [
            sums[:g, n] + slope[:g, n] * ended - sums[:g, k] - slope[:g, k] * begun
            for sums, slope in zip(self.sums, self.slopes, strict=True)
        ]
        least = of_class[-1].copy()  # the largest servers know all sizes
        for costs in of_class[:-1]:
            np.minimum(least[: len(costs)], costs, out=least[: len(costs)])
        return least

    def _places(self, at: Whole) -> tuple[Whole, Whole]:
        """Return the interval in which each tick lies, and how far; prices are 0 outside."""
        held = np.clip(at, self.times[0], self.times[-1])
        k = np.searchsorted(self.times, held, side="right") - 1
        return k, held - self.times[k]


def _cheapest_split(parts: Whole, g: int) -> Whole:
    """Return the least price of g GPUs in two parts or more, by those of each size."""
    cheapest = [np.zeros_like(parts[0])]
    for n in range(1, g + 1):
        most = min(n, len(parts), g - 1)
        cheapest.append(
            np.min([cheapest[n - q] + parts[q - 1] for q in range(1, most + 1)], axis=0)
        )
    return cheapest[g]


def _collected(c: int, table: Sequence[Sequence[int]], times: Sequence[int]) -> int:
    """Return the most that a server of c GPUs collects, interval by interval: a knapsack."""
    total = 0
    for k, (begin, end) in enumerate(pairwise(times)):
        best = [0]
        for n in range(1, c + 1):
            best.append(max([best[-1], *(best[n - q] + table[q - 1][k] for q in range(1, n + 1))]))
        total += (end - begin) * best[c]
    return total
