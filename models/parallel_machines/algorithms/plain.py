"""Graham's list scheduling and LPT, step by step.

Letters, as in the paper: m machines, p_j the processing time of job j.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..instance import ParallelMachinesInstance, ParallelMachinesSolution


def list_scheduling(instance: ParallelMachinesInstance) -> ParallelMachinesSolution:
    """Take the jobs in the order given (Graham 1966)."""
    return scheduled(instance, range(len(instance.processing_s)))


def lpt(instance: ParallelMachinesInstance) -> ParallelMachinesSolution:
    """Take the jobs of the longest processing time first, ties by index (Graham 1969)."""
    p = instance.processing_s
    return scheduled(instance, sorted(range(len(p)), key=lambda j: (-p[j], j)))


def scheduled(instance: ParallelMachinesInstance, order: Iterable[int]) -> ParallelMachinesSolution:
    """Put each job on the machine that is free first, of several on the first of them."""
    m, p = instance.machines, instance.processing_s
    load = [0] * m
    machine = [0] * len(p)
    for j in order:
        i = min(range(m), key=lambda i: (load[i], i))
        machine[j] = i
        load[i] += p[j]
    return ParallelMachinesSolution(machine=tuple(machine))
