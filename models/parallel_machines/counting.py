r"""Bounds by counting, and sums of processing times.

* The mean load: :math:`OPT \ge \lceil \sum_j p_j / m \rceil`.
* Pigeonholes: some machine has k + 1 of the km + 1 longest jobs.
* The makespan is a sum of some processing times, so that a bound may be raised to the next one.
"""

from __future__ import annotations

from itertools import accumulate

from gadgetopt.numbers.memory import MOST_CELLS as TABLE_CELLS

from .instance import ParallelMachinesInstance

#: Table entries that a check may compute, and those it may hold.
MOST_STEPS, MOST_CELLS = 10**10, 5 * TABLE_CELLS

#: Bits of sums, times jobs, up to which the bound is raised to an attainable sum.
#: Tuned: `benchmarks/constants.py`.
MOST_SUMS = 10**9


class TableTooLarge(ValueError):
    """A table of sums of processing times would take too long."""


def combinatorial_bound(instance: ParallelMachinesInstance) -> int:
    """Return the largest of the counting bounds, raised to a sum of times, in seconds."""
    return raised(instance, counting_bound(instance)[0])


def counting_bound(instance: ParallelMachinesInstance) -> tuple[int, int | None]:
    """Return the largest counting bound, and its k; None if it is the mean load."""
    largest_k = (len(instance.processing_s) - 1) // instance.machines
    m, sums = instance.machines, [0, *accumulate(sorted(instance.processing_s, reverse=True))]
    bounds = [sums[k * m + 1] - sums[k * m - k] for k in range(largest_k + 1)]
    k = max(range(largest_k + 1), key=bounds.__getitem__)
    if bounds[k] > instance.mean_load_s:
        return bounds[k], k
    return instance.mean_load_s, None


def raised(instance: ParallelMachinesInstance, bound: int) -> int:
    """Return the next sum of processing times; the bound itself where that takes long."""
    if (bound + max(instance.processing_s)) * len(instance.processing_s) > MOST_SUMS:
        return bound
    try:
        return next_attainable(instance, bound)
    except TableTooLarge:
        return bound


def is_raised(instance: ParallelMachinesInstance, bound: int) -> bool:
    """Return True if a bound is no sum of processing times; False also where that takes long."""
    return raised(instance, bound) > bound


def next_attainable(instance: ParallelMachinesInstance, bound: int) -> int:
    """Return the least sum of processing times that is no less than a bound.

    Raises
    ------
    TableTooLarge
        If the dynamic program would take too long.
    """
    # Adding jobs one by one, the first sum to reach the bound exceeds it by less than a job.
    bits = bound + max(instance.processing_s)
    if bits > MOST_CELLS or bits * len(instance.processing_s) > MOST_STEPS:
        raise TableTooLarge(f"attainable: the table of sums up to {bits} is too large")
    mask = (1 << bits) - 1
    sums = 1  # bit s is set if some jobs sum to s
    for time_s, count in instance.demand.items():
        for n in bundle_sizes(count):
            sums |= (sums << n * time_s) & mask if n * time_s < bits else 0
    above = sums >> bound
    return bound + (above & -above).bit_length() - 1


def bundle_sizes(count: int) -> list[int]:
    """Return numbers whose subset sums are exactly 0, 1, ..., `count`."""
    sizes = []
    size = 1
    while count > 0:
        sizes.append(min(size, count))
        count -= sizes[-1]
        size *= 2
    return sizes
