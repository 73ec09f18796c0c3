"""The largest differencing method (Karmarkar and Karp 1982)."""

from __future__ import annotations

import heapq
from bisect import insort_left, insort_right
from collections.abc import Iterable, Sequence
from typing import Any

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import ParallelMachinesInstance, ParallelMachinesSolution
from .graham import makespan_s

#: Load of a machine, and its jobs as a tree of pairs, so that joining two takes constant time.
Part = tuple[int, Any]

#: So many times fewer parts than the rest are inserted one by one, in place of sorting all.
#: Tuned: `benchmarks/constants.py`.
_FEW = 8


@method(kind="approximation", reference="Karmarkar and Karp 1982")
def differencing(instance: ParallelMachinesInstance) -> MethodOutcome:
    r"""Joins the two partial schedules of the largest differences until one is left.

    The makespan is at most

    .. math:: \Big(\frac{4}{3} - \frac{1}{3m}\Big)\, OPT

    for at least two machines (Fischetti and Martello 1987 for two, where it is 7/6; Michiels,
    Korst, Aarts and van Leeuwen 2007). On average it is far better than LPT.

    Parameters
    ----------
    instance : ParallelMachinesInstance

    Notes
    -----
    At first every job is a partial schedule of its own. The two partial schedules with the largest
    difference between their largest and their smallest load are joined, the largest load of one
    with the smallest of the other and so on, until one is left. A join touches no more loads than
    the smaller of the two has, and the others stay in order: O(n log^2 n) comparisons.

    References
    ----------
    N. Karmarkar, R. M. Karp, "The Differencing Method of Set Partitioning", Technical Report
    UCB/CSD 82/113, University of California, Berkeley, 1982. M. Fischetti, S. Martello, "Worst-case
    analysis of the differencing method for the partition problem", Mathematical Programming 37
    (1987) 117-120. W. Michiels, J. Korst, E. Aarts, J. van Leeuwen, "Performance ratios of the
    Karmarkar-Karp differencing method", Journal of Combinatorial Optimization 13 (2007) 19-32.
    """
    jobs_of = difference(instance.processing_s, instance.used_machines)
    return MethodOutcome(
        solution=ParallelMachinesSolution.of(jobs_of),
        claimed_objective=makespan_s(instance, jobs_of),
    )


def difference(times_s: Sequence[int], machines: int) -> list[list[int]]:
    """Return the indices of times on each machine after differencing."""
    # Loads are in descending order; machines without a job are left out.
    heap = [_entry([(time_s, j)], machines, j) for j, time_s in enumerate(times_s)]
    heapq.heapify(heap)
    serial = len(heap)
    while len(heap) > 1:
        first = heapq.heappop(heap)[2]
        second = heapq.heappop(heap)[2]
        heapq.heappush(heap, _entry(_joined(first, second, machines), machines, serial))
        serial += 1
    found = [list(_leaves(tree)) for _, tree in heap[0][2]]
    return found + [[] for _ in range(machines - len(found))]


def _entry(parts: list[Part], machines: int, serial: int) -> tuple[int, int, list[Part]]:
    smallest = parts[-1][0] if len(parts) == machines else 0
    return smallest - parts[0][0], serial, parts


def _joined(first: list[Part], second: list[Part], machines: int) -> list[Part]:
    """Join two partial schedules, the largest load of one with the smallest of the other.

    Both lists are used up. Of equal loads those of the first come first, and joined ones last.
    """
    shared = max(0, len(first) + len(second) - machines)
    of_first, of_second = first[len(first) - shared :], second[len(second) - shared :]
    del first[len(first) - shared :], second[len(second) - shared :]
    joined = [
        (a + b, (left, right))
        for (a, left), (b, right) in zip(of_first, reversed(of_second), strict=True)
    ]
    few = min(len(first), len(second)) + shared
    if few * _FEW > len(first) + len(second):
        return sorted(first + second + joined, key=_falling)
    if len(first) >= len(second):
        parts = first
        for part in second:
            insort_right(parts, part, key=_falling)
    else:
        parts = second
        for part in reversed(first):
            insort_left(parts, part, key=_falling)
    for part in joined:
        insort_right(parts, part, key=_falling)
    return parts


def _falling(part: Part) -> int:
    return -part[0]


def _leaves(tree: Any) -> Iterable[int]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        else:
            yield node
