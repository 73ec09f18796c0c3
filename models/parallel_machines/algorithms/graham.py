"""List scheduling and LPT (Graham 1966, 1969)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import ParallelMachinesInstance, ParallelMachinesSolution


@method(kind="approximation", reference="Graham 1966")
def list_scheduling(instance: ParallelMachinesInstance) -> MethodOutcome:
    r"""Each job in the order given, on the machine with the least load.

    The makespan is at most

    .. math:: \Big(2 - \frac{1}{m}\Big)\, OPT

    in any order of the jobs, and for some order that much (Graham 1966).

    Of equally loaded machines the first is taken. The same result as `plain`, tested.

    Parameters
    ----------
    instance : ParallelMachinesInstance

    Notes
    -----
    O(n log m).

    References
    ----------
    R. L. Graham, "Bounds for Certain Multiprocessing Anomalies", Bell System Technical Journal 45
    (1966) 1563-1581.
    """
    return _scheduled(instance, range(len(instance.processing_s)))


@method(kind="approximation", reference="Graham 1969")
def lpt(instance: ParallelMachinesInstance) -> MethodOutcome:
    r"""List scheduling, longest job first.

    Return the list schedule of the jobs in order of their length, longest first.

    The makespan is at most

    .. math:: \Big(\frac{4}{3} - \frac{1}{3m}\Big)\, OPT,

    and that much for every m on the instances of `data.generate.presets.graham_lpt` (Graham 1969).

    Jobs of equal length go by index, equally loaded machines too. The same result as `plain`,
    tested.

    Parameters
    ----------
    instance : ParallelMachinesInstance

    Notes
    -----
    O(n log n).

    References
    ----------
    R. L. Graham, "Bounds on Multiprocessing Timing Anomalies", SIAM Journal on Applied Mathematics
    17 (1969) 416-429.
    """
    return _scheduled(instance, instance.longest_first)


def list_schedule(instance: ParallelMachinesInstance, order: Iterable[int]) -> list[list[int]]:
    """Return the jobs of each machine after list scheduling in this order."""
    jobs_of: list[list[int]] = [[] for _ in range(instance.used_machines)]
    heap = [(0, i) for i in range(len(jobs_of))]
    for j in order:
        load_s, i = heap[0]
        jobs_of[i].append(j)
        heapq.heapreplace(heap, (load_s + instance.processing_s[j], i))
    return jobs_of


def makespan_s(instance: ParallelMachinesInstance, jobs_of: Iterable[Iterable[int]]) -> int:
    """Return the largest load of the machines that have these jobs."""
    return max(sum(instance.processing_s[j] for j in jobs) for jobs in jobs_of)


def _scheduled(instance: ParallelMachinesInstance, order: Iterable[int]) -> MethodOutcome:
    jobs_of = list_schedule(instance, order)
    return MethodOutcome(
        solution=ParallelMachinesSolution.of(jobs_of),
        claimed_objective=makespan_s(instance, jobs_of),
    )
