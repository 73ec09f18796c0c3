r"""What prices of parts of servers prove: a bound that sees fragmentation and communication.

A job occupies on every server that it uses a *part*, some number q of its GPUs. Let
:math:`\pi_{kq}(t) \ge 0` be the price of a part of q GPUs on a server of class k (servers of
:math:`c_k` GPUs, :math:`M_k` of them) at time t: a step function, 0 outside
:math:`[\tau_0, \tau_K]`. At any instant the sizes of the parts on one server sum to at most
:math:`c_k`; the most that one server can collect is the unbounded knapsack

.. math::
    P_k(\pi(t)) = \max \Big\{ \sum_q n_q \pi_{kq}(t) : \sum_q q\, n_q \le c_k,
                  n \in \mathbb{Z}_+ \Big\}.

**Theorem** (ours, proved here). For every
schedule of (F)

.. math::
    L^{srv}(\pi) = \sum_j \min_{s \ge r_j, \lambda}
        \Big[ w_j (s + d_j(\lambda)) + \sum_{q \in \lambda} \min_k \int_s^{s + d_j(\lambda)}
        \pi_{kq} \Big] - \sum_k M_k \int P_k(\pi(t))\,dt \;\le\; \sum_j w_j C_j,

where :math:`\lambda` runs over the partitions of :math:`g_j` into parts and :math:`d_j(\lambda)` is
no more than the duration of j so divided. *Proof.* Let j start at :math:`S_j`, occupy parts
:math:`\lambda_j` on servers of classes k(q), and complete at :math:`C_j`. The bracket at
:math:`(S_j, \lambda_j)` is at most :math:`w_j C_j` and what its parts pay: a shorter duration
lowers both. Summed over the jobs, the parts that lie on one server at time t pay at most
:math:`P_k(\pi(t))`, since they fit on it together; integrated over time and summed over servers,
all pay at most the subtracted term. :math:`\square`

With :math:`\pi_{kq} = q \pi` a server collects :math:`c_k \pi`, and the bound is that of
`price_checks`, raised where splitting a job takes longer: **the bound is never below B5** when it
starts there. With :math:`\pi_{kq} = 0` up to :math:`c_k / 2` and 1 above, at most one large part
runs on a server: five of eight GPUs cost as much as all eight.

*Durations.* A job that fits on a server is whole, with its shortest duration, or in at least two
parts, with at least that of its fastest mapping onto two servers of :math:`g_j - \min_s t_s` GPUs:
merging the parts of two servers never slows a job, so more parts than two are no faster. That parts
are made of whole blocks is not used: the least is taken over more partitions than there are. A job
that fits on no server has its shortest duration in every partition. Both are exact integers or
proved lower bounds of the search in `mapping`.

*Minima.* For a fixed partition the bracket is piecewise linear in s with corners at
:math:`\tau_k` and :math:`\tau_k - d`, so the least over all partitions at these starts and at
:math:`r_j` is the least of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Bools, Ints

from ..mapping import fastest_mapping
from ..relaxations import Pool, pool_of

if TYPE_CHECKING:
    from ..instance import ASrptInstance

#: Whole numbers of 64 bits or of any size, or doubles.
Numbers = npt.NDArray[Any]

#: Starts of jobs that are looked at in one piece. Tuned: `benchmarks/constants.py`.
BLOCK = 2**18


@dataclass(frozen=True, eq=False)
class Servers:
    """The pool's jobs with what the servers mean for them.

    Attributes
    ----------
    pool : Pool
        Its durations are those of jobs that are not split, where they fit on a server.
    capacities, counts : tuple of int, shape (classes,)
        c_k, rising, and M_k.
    split_ticks : array of int, shape (jobs,)
        Least duration in two or more parts; that of the pool where a job fits on no server.
    fits, splits : array of bool, shape (jobs,)
        Whether a job can be on one server, and whether it can be on several.
    """

    pool: Pool
    capacities: tuple[int, ...]
    counts: tuple[int, ...]
    split_ticks: Ints
    fits: Bools
    splits: Bools


@dataclass(frozen=True, eq=False)
class PartPrices:
    """Prices of parts over time.

    Attributes
    ----------
    times : array, shape (K + 1,)
        Rising ticks.
    tables : tuple of array, shape (classes,) of (c_k, K)
        Row q - 1: prices of a part of q GPUs; whole multiples of 1 / `denominator`, or doubles with
        the denominator 1.
    denominator : int
    """

    times: Numbers
    tables: tuple[Numbers, ...]
    denominator: int = 1


def servers_of(instance: ASrptInstance) -> Servers:
    """Return the jobs and server classes of an instance."""
    pool = pool_of(instance)
    largest = instance.largest_server
    split_units = []
    for times, job_type, whole in zip(
        instance.times, instance.job_types, instance.shortest_units, strict=True
    ):
        most = times.room - min(times.sizes)
        splits = sum(times.replicas) >= 2 and job_type.num_gpus <= largest
        split_units.append(fastest_mapping(times, (most, most)).bound if splits else whole)
    ticks = [instance.ticks(j, split_units[job.job_type]) for j, job in enumerate(instance.jobs)]
    capacities, counts = np.unique(instance.gpus_per_server, return_counts=True)
    return Servers(
        pool,
        tuple(capacities.tolist()),
        tuple(counts.tolist()),
        np.array(ticks, dtype=np.int64),
        pool.gpus <= largest,
        (pool.gpus > 1) & (instance.num_servers > 1),
    )


def collected(capacity: int, table: Numbers) -> list[Numbers]:
    """Return what a server with 0, 1, ..., `capacity` free GPUs can collect in each interval."""
    best = [np.zeros_like(table[0])]
    for n in range(1, capacity + 1):
        worth = best[n - 1]
        for q in range(1, n + 1):
            worth = np.maximum(worth, best[n - q] + table[q - 1])
        best.append(worth)
    return best


def cheapest(
    servers: Servers, parts: PartPrices, dtype: type = np.float64
) -> list[tuple[Ints, Numbers, Numbers, Bools]]:
    """Return each job's least cost under prices of parts, in blocks of jobs of one size.

    Every block has the jobs, their costs (times `weight_scale` and the prices' denominator), starts
    that attain them, and whether the job is then split.
    """
    pool = servers.pool
    scale, found = pool.weight_scale, []
    step = max(1, BLOCK // (2 * len(parts.times) + 1))
    for g in np.unique(pool.gpus).tolist():
        of_size = np.flatnonzero(pool.gpus == g)
        for first in range(0, len(of_size), step):
            jobs = of_size[first : first + step]
            weight: Numbers = pool.weight[jobs].astype(dtype) * parts.denominator
            release: Numbers = pool.release[jobs].astype(dtype)
            fits, splits = bool(servers.fits[jobs[0]]), bool(servers.splits[jobs[0]])
            cost: Numbers | None = None
            start: Numbers | None = None
            duration: Numbers
            if fits:
                duration = pool.duration[jobs].astype(dtype)
                cost, start = _least(weight, release, duration, parts, g, scale, split=False)
            split = np.zeros(len(jobs), dtype=np.bool_)
            if splits:
                duration = servers.split_ticks[jobs].astype(dtype)
                # At prices of 0 and from the release on, no split may be cheaper.
                some = (
                    np.arange(len(jobs))
                    if cost is None
                    else np.flatnonzero(weight * (release + duration) < cost)
                )
                if len(some):
                    cost_2, start_2 = _least(
                        weight[some], release[some], duration[some], parts, g, scale, split=True
                    )
                    if cost is None or start is None:
                        cost, start, split = cost_2, start_2, ~split
                    else:
                        better = cost_2 < cost[some]
                        cost[some[better]] = cost_2[better]
                        start[some[better]] = start_2[better]
                        split[some[better]] = True
            assert cost is not None
            assert start is not None
            found.append((jobs, cost, start, split))
    return found


def _least(
    weight: Numbers,
    release: Numbers,
    duration: Numbers,
    parts: PartPrices,
    g: int,
    scale: int,
    *,
    split: bool,
) -> tuple[Numbers, Numbers]:
    """Return the least costs of jobs of g GPUs, whole or split, and the starts."""
    d, r = duration[:, None], release[:, None]
    corners = np.broadcast_to(parts.times, (len(d), len(parts.times)))
    starts = np.maximum(np.concatenate([r, corners, parts.times - d], axis=1), r)
    if split:
        price = partition_costs(part_costs(parts, starts, d, range(1, g)), g)
    else:
        (price,) = part_costs(parts, starts, d, [g])
    cost = weight[:, None] * (starts + d) + scale * price
    best = cost.argmin(axis=1)
    row = np.arange(len(best))
    return cost[row, best], starts[row, best]


def part_costs(
    parts: PartPrices, starts: Numbers, duration: Numbers, sizes: Sequence[int]
) -> list[Numbers]:
    """Return what parts of some sizes pay from a start on, each on its cheapest class.

    Sizes larger than all servers are left out.
    """
    times = parts.times
    lengths = np.diff(times)
    places = []
    for at in (starts, starts + duration):
        held = np.clip(at, times[0], times[-1])
        k = np.searchsorted(times, held, side="right") - 1
        places.append((k, held - times[k]))
    (k_0, rest_0), (k_1, rest_1) = places
    paid = []
    for q in sizes:
        costs = []
        for table in parts.tables:
            if q <= len(table):
                before = np.concatenate([[0], np.cumsum(table[q - 1] * lengths)])
                slope = np.append(table[q - 1], 0)
                at_end = before[k_1] + slope[k_1] * rest_1
                costs.append(at_end - before[k_0] - slope[k_0] * rest_0)
        if costs:
            paid.append(_minimum(costs))
    return paid


def partition_costs(paid: Sequence[Numbers], g: int) -> Numbers:
    """Return the least cost of g GPUs in at least two parts; `paid` is that of 1, 2, ... GPUs."""
    cheapest_of = [np.zeros_like(paid[0])]
    for n in range(1, g):
        most = min(n, len(paid))
        cheapest_of.append(_minimum([cheapest_of[n - q] + paid[q - 1] for q in range(1, most + 1)]))
    most = min(g - 1, len(paid))
    return _minimum([cheapest_of[g - q] + paid[q - 1] for q in range(1, most + 1)])


def _minimum(options: Sequence[Numbers]) -> Numbers:
    least = options[0]
    for option in options[1:]:
        least = np.minimum(least, option)
    return least
