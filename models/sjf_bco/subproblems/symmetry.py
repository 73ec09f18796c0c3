"""Symmetry of schedules: identical jobs and equal servers.

The exact models keep one representative of each class of equivalent schedules (reconstructed):
identical jobs start in order of their index, and servers of equal capacity are ordered by
sum_j (j + 1) y_js. The two orders are compatible, since permuting servers changes no start.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from itertools import pairwise

from ..instance import SjfBcoInstance, SjfBcoSolution


def identical_jobs(instance: SjfBcoInstance) -> list[list[int]]:
    """Return classes of jobs with equal gang, work and rates, each in order of index."""
    rates = instance.rates

    def data(j: int) -> Hashable:
        counts = rates.server_counts(j)
        table = tuple(rates.rate(j, r, p) for r in counts for p in rates.levels(r))
        return rates.gpus[j], rates.iterations[j], table

    return _classes((data(j), j) for j in range(len(instance.jobs)))


def equal_servers(instance: SjfBcoInstance) -> list[list[int]]:
    """Return classes of servers of equal capacity, each in order of index."""
    return _classes((gpus, s) for s, gpus in enumerate(instance.server_gpus))


def neighbours(classes: list[list[int]]) -> list[tuple[int, int]]:
    """Return adjacent members of each class, the pairs that symmetry breaking orders."""
    return [pair for members in classes for pair in pairwise(members)]


def representative(instance: SjfBcoInstance, solution: SjfBcoSolution) -> SjfBcoSolution:
    """Return the equivalent schedule that satisfies both orders."""
    plan = list(zip(solution.start_slot, solution.placement, strict=True))
    for jobs in identical_jobs(instance):
        in_order = sorted((plan[j] for j in jobs), key=lambda p: p[0])
        for j, p in zip(jobs, in_order, strict=True):
            plan[j] = p
    rank = [
        sum((j + 1) * placement.get(s, 0) for j, (_, placement) in enumerate(plan))
        for s in range(len(instance.server_gpus))
    ]
    new_index = {}
    for servers in equal_servers(instance):
        ranked = sorted(servers, key=lambda s: -rank[s])
        new_index.update(dict(zip(ranked, servers, strict=True)))
    return SjfBcoSolution(
        start_slot=tuple(a for a, _ in plan),
        placement=tuple({new_index[s]: k for s, k in y.items() if k} for _, y in plan),
    )


def _classes(keyed: Iterable[tuple[Hashable, int]]) -> list[list[int]]:
    members: defaultdict[Hashable, list[int]] = defaultdict(list)
    for key, index in keyed:
        members[key].append(index)
    return list(members.values())
