"""MULTIFIT: bin packing by first-fit decreasing, with bisection of the capacity."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import ParallelMachinesInstance, ParallelMachinesSolution
from .graham import makespan_s


@method(kind="approximation", reference="Coffman, Garey and Johnson 1978")
def multifit(
    instance: ParallelMachinesInstance,
    limits: Limits,
    *,
    steps: int = 10,
) -> MethodOutcome:
    r"""Bisection of the capacity into which first-fit decreasing packs the jobs.

    The makespan is at most

    .. math:: \Big(\frac{13}{11} + 2^{-k}\Big)\, OPT

    (Yue 1990; 1.22 for 13/11 by Coffman, Garey and Johnson 1978).

    Parameters
    ----------
    instance : ParallelMachinesInstance
    limits : Limits
        `time_s` stops the bisection between two steps.
    steps : int, default 10
        k, the number of bisections. The authors report no gain beyond 7 (reconstructed: recalled).

    Notes
    -----
    O(n log n + k n log m), a tree of residual capacities finding the first machine with room.

    The capacity is bisected between :math:`\max(\sum_j p_j / m, \max_j p_j)` and
    :math:`\max(2 \sum_j p_j / m, \max_j p_j)` in rationals, as printed. Departure from the text:
    the makespan returned is that of the last packing that succeeded, which may be less than its
    capacity.

    References
    ----------
    E. G. Coffman, M. R. Garey, D. S. Johnson, "An Application of Bin-Packing to Multiprocessor
    Scheduling", SIAM Journal on Computing 7 (1978) 1-17. M. Yue, "On the exact upper bound for the
    multifit processor scheduling algorithm", Annals of Operations Research 24 (1990) 233-259.
    """
    clock = Clock(limits)
    limit_hit = None
    if steps < 0:
        raise ModelRefused(f"steps: {steps}, expected at least 0")
    longest_s = max(instance.processing_s)
    mean_load_s = Fraction(instance.total_s, instance.machines)
    low, high = max(mean_load_s, Fraction(longest_s)), max(2 * mean_load_s, Fraction(longest_s))
    packing = first_fit_decreasing(instance, int(high))
    assert packing is not None, "first-fit decreasing packs any jobs into twice the mean load"
    for _ in range(steps):
        if int(low) == int(high):  # the capacities in between pack alike
            break
        if clock.expired:
            limit_hit = "time_s"
            break
        capacity = (low + high) / 2
        found = first_fit_decreasing(instance, int(capacity))
        if found is None:
            low = capacity
        else:
            packing, high = found, capacity
    return MethodOutcome(
        solution=ParallelMachinesSolution.of(packing),
        claimed_objective=makespan_s(instance, packing),
        limit_hit=limit_hit,
        notes={"capacity_s": str(high)},
    )


def first_fit_decreasing(
    instance: ParallelMachinesInstance, capacity_s: int
) -> list[list[int]] | None:
    """Return the jobs of each machine, each job on the first with room; None if one finds none."""
    machines = instance.used_machines
    leaves = 1 << (machines - 1).bit_length()
    # A tree in an array: node t has the children 2t and 2t + 1 and holds the largest room in them.
    room = [0] * (2 * leaves)
    room[leaves : leaves + machines] = [capacity_s] * machines
    for t in range(leaves - 1, 0, -1):
        room[t] = max(room[2 * t], room[2 * t + 1])
    jobs_of: list[list[int]] = [[] for _ in range(machines)]
    for j in instance.longest_first:
        time_s = instance.processing_s[j]
        if room[1] < time_s:
            return None
        t = 1
        while t < leaves:
            t = 2 * t if room[2 * t] >= time_s else 2 * t + 1
        jobs_of[t - leaves].append(j)
        room[t] -= time_s
        while t > 1:
            t //= 2
            room[t] = max(room[2 * t], room[2 * t + 1])
    return jobs_of
