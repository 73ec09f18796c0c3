r"""Configurations: what the cluster can run in one slot, and the bound that follows from it.

A configuration c is a set of jobs with placements that fit together; job j then does
:math:`\phi_j(c)` iterations in a slot. In any schedule the cluster is in one configuration per slot
(or none), so for every number of prices :math:`p_j \ge 0` of an iteration of job j

.. math::
    \sum_j p_j F_j \le C_{\max} R(p), \qquad R(p) = \max_c \sum_j p_j \phi_j(c).

The best prices are the dual of a linear program with a column for every configuration
(`bounds/instants.py`). The relaxation is (reconstructed): it forgets that jobs are not preempted
and keep their placement, and sees contention and packing at once.

Configurations are enumerated by sizes. Gangs join the cluster one by one, larger first, and a
cluster is the multiset of its servers, each with its free GPUs and the spread gangs on it. So equal
servers and equal local fillings are one. A gang of one GPU fits wherever a GPU is free and never
contends: of them only the number counts. At the end each gang has its number of servers r and its
level p, and the jobs of a size share these out in every way.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, groupby, pairwise, permutations, product

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ...instance import SjfBcoInstance
from ...size_limits import refuse_many

#: Servers of the clusters that an enumeration may visit, some ten seconds of work.
#: Tuned: `benchmarks/constants.py`.
MOST_VISITED = 4_000_000
#: Ways to place a gang. Tuned: `benchmarks/constants.py`.
MOST_WAYS = 40_000
#: Servers, and GPUs of a gang, beyond which there are too many clusters anyway.
#: Tuned: `benchmarks/constants.py`.
MOST_SERVERS = MOST_GANG = 64
#: Configurations that it may list. Tuned: `benchmarks/constants.py`.
MOST_CONFIGURATIONS = 100_000

#: A server: its free GPUs, and the spread gangs on it by number.
Server = tuple[int, tuple[int, ...]]
Cluster = tuple[Server, ...]
#: The number of servers and the level of each gang.
Levels = tuple[tuple[int, int], ...]


def iterations_per_slot(instance: SjfBcoInstance) -> Ints:
    """Return the iterations of every job in every configuration, shape (configurations, jobs).

    Configurations in which every job is at least as fast in another one may be left out.

    Raises
    ------
    ModelRefused
        If there are too many clusters or configurations to enumerate.
    """
    return _rows(instance, instance.rates.rate, _more_servers_never_help(instance))


def modes_per_slot(instance: SjfBcoInstance, code: Callable[[int, int, int], int]) -> Ints:
    """Return a code of the servers and level of every job, shape (configurations, jobs).

    Configurations in which no job has fewer servers or a lower level than in another one are left
    out.

    Parameters
    ----------
    instance : SjfBcoInstance
    code : callable
        A positive number of (j, r, p); 0 stands for a job that does not run.

    Raises
    ------
    ModelRefused
        As `iterations_per_slot`.
    """
    return _rows(instance, code, undominated=True)


def _rows(
    instance: SjfBcoInstance, value: Callable[[int, int, int], int], undominated: bool
) -> Ints:
    """Return `value` of (j, r, p) for the jobs of every configuration, 0 for the others."""
    rates = instance.rates
    refuse_many(rates.servers, MOST_SERVERS, "server_gpus: servers to be filled one by one")
    refuse_many(max(rates.gpus), MOST_GANG, "jobs: GPUs of a gang to be shared out")
    jobs_of: dict[int, list[int]] = {}
    for j, gpus in enumerate(rates.gpus):
        jobs_of.setdefault(gpus, []).append(j)
    singles = jobs_of.get(1, [])
    rows: set[tuple[int, ...]] = set()
    for gangs, levels_of in _levels_by_gangs(instance):
        free = instance.total_gpus - sum(gangs)
        idle = min(len(singles), free)
        ways = math.comb(len(singles), idle)
        for size, part in _by_size(gangs, ((1, 0),) * len(gangs)):
            ways *= math.perm(len(jobs_of[size]), len(part))
        refuse_many(ways, MOST_CONFIGURATIONS, "jobs to run together: ways to choose them")
        running = list(combinations(singles, idle))
        for levels in _undominated(levels_of) if undominated else levels_of:
            sharings = [
                {
                    tuple(zip(jobs, part, strict=True))
                    for jobs in permutations(jobs_of[g], len(part))
                }
                for g, part in _by_size(gangs, levels)
            ]
            for sharing in product(*sharings):
                row = [0] * len(rates.gpus)
                for placed in sharing:
                    for j, (r, p) in placed:
                        row[j] = value(j, r, p)
                for ones in running:
                    for j in ones:
                        row[j] = value(j, 1, 0)
                    rows.add(tuple(row))
                    for j in ones:
                        row[j] = 0
            refuse_many(len(rows), MOST_CONFIGURATIONS, "configurations of the cluster")
    return np.array(sorted(rows), dtype=np.int64)


def most_per_slot(configurations: Ints, prices: Sequence[int]) -> int:
    """Return R(p), the largest value of a slot at these prices, in exact integers."""
    largest = int(configurations.sum(axis=1).max(initial=0)) * max(prices, default=0)
    dtype = np.int64 if largest < 2**62 else object
    values = configurations.astype(dtype) @ np.array(prices, dtype=dtype)
    return int(values.max(initial=0))


def _more_servers_never_help(instance: SjfBcoInstance) -> bool:
    """Return True if no job is faster on more servers, or at a higher level."""
    rates = instance.rates
    for j in range(len(rates.gpus)):
        counts = rates.server_counts(j)
        for r, more in pairwise(counts):
            # One server has level 0 only; several have the levels 1 to P.
            for p in rates.levels(more):
                if rates.rate(j, more, p) > rates.rate(j, r, 0 if r == 1 else p):
                    return False
        for r in counts:
            values = [rates.rate(j, r, p) for p in rates.levels(r)]
            if values != sorted(values, reverse=True):
                return False
    return True


def _levels_by_gangs(instance: SjfBcoInstance) -> Iterator[tuple[tuple[int, ...], set[Levels]]]:
    """Yield each multiset of gangs that fits, in descending size, with its possible levels."""
    available = Counter(g for g in instance.rates.gpus if g >= 2)
    sizes = sorted(available, reverse=True)
    empty: Cluster = tuple(sorted((gpus, ()) for gpus in instance.server_gpus))
    visited = 0

    def with_more(
        first: int, gangs: tuple[int, ...], clusters: set[Cluster]
    ) -> Iterator[tuple[tuple[int, ...], set[Levels]]]:
        nonlocal visited
        yield gangs, {_levels(gangs, cluster) for cluster in clusters}
        for k in range(first, len(sizes)):
            if gangs.count(sizes[k]) == available[sizes[k]]:
                continue
            larger: set[Cluster] = set()
            for cluster in clusters:
                for grown in _joined(cluster, sizes[k], len(gangs)):
                    larger.add(grown)
                    visited += 1
                    what = "servers of the clusters to enumerate, so far"
                    refuse_many(visited * len(cluster), MOST_VISITED, what)
            if larger:
                yield from with_more(k, (*gangs, sizes[k]), larger)

    return with_more(0, (), {empty})


def _joined(cluster: Cluster, size: int, gang: int) -> Iterator[Cluster]:
    """Yield the clusters after a gang has joined, up to the order of equal servers."""
    groups = tuple((server[0], len(list(equal))) for server, equal in groupby(cluster))
    for counts in shares(groups, size, size):
        spread = len(counts) - counts.count(0) > 1
        grown = [
            (server[0] - count, (*server[1], gang) if spread else server[1]) if count else server
            for server, count in zip(cluster, counts, strict=True)
        ]
        grown.sort()
        yield tuple(grown)


@lru_cache(maxsize=100_000)
def shares(groups: tuple[tuple[int, int], ...], left: int, most: int) -> list[tuple[int, ...]]:
    """Return the ways to take `left` GPUs from groups of equal servers, given by (free, number).

    Counts do not increase within a group, and those of the first one are at most `most`.
    """
    if not groups:
        return [()] if left == 0 else []
    (free, number), later = groups[0], groups[1:]
    ways = [(0,) * number + tail for tail in shares(later, left, left)]
    if number:
        for count in range(1, min(most, free, left) + 1):
            same = ((free, number - 1), *later)
            ways += [(count, *tail) for tail in shares(same, left - count, count)]
            refuse_many(len(ways), MOST_WAYS, "ways to place a gang")
    return ways


def _levels(gangs: tuple[int, ...], cluster: Cluster) -> Levels:
    """Return (r, p) of every gang, in ascending order within a size."""
    found = [(1, 0)] * len(gangs)
    for gang in range(len(gangs)):
        sharing = [len(spread) for _, spread in cluster if gang in spread]
        if sharing:
            found[gang] = (len(sharing), max(sharing))
    return tuple(pair for _, part in _by_size(gangs, tuple(found)) for pair in sorted(part))


def _by_size(gangs: tuple[int, ...], levels: Levels) -> Iterator[tuple[int, Levels]]:
    """Yield each size with the levels of its gangs; gangs of a size stand together."""
    done = 0
    for size, equal in groupby(gangs):
        number = len(list(equal))
        yield size, levels[done : done + number]
        done += number


def _undominated(levels_of: set[Levels]) -> list[Levels]:
    """Return the levels without those that others equal or beat in every r and p."""
    kept: list[Levels] = []
    for levels in sorted(levels_of):
        if not any(
            all(r <= s and p <= q for (r, p), (s, q) in zip(better, levels, strict=True))
            for better in kept
        ):
            kept.append(levels)
    return kept
