r"""Combinatorial lower bounds on the makespan (all reconstructed: the paper has none).

With rho_j the shortest duration of job j over every number of servers and level it can meet:

.. math::
    LB_1 = \max_j \rho_j, \qquad LB_2 = \Big\lceil \sum_j G_j \rho_j / N \Big\rceil,

and the energetic bound, the smallest M >= max(LB_1, LB_2) such that for every 0 <= t < M/2

.. math::
    \sum_j G_j \min\{M - 2t, (\rho_j - t)^+\} \le N (M - 2t).

A job of length rho inside [0, M) spends at least min(M - 2t, (rho - t)^+) slots in the window
[t, M - t): at most t of them lie before it or at most t after it. All are computed in integers, so
they vouch for themselves. `class_bound.py` adds the scarcity of large servers.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.data import Certificate
from gadgetopt.result import Limits, MethodOutcome, Status, Voucher

from .instance import SjfBcoInstance

#: Products beyond this would leave 64-bit integers; the area bound then has to do.
_INT64_SAFE = 2**62


def longest_job(instance: SjfBcoInstance) -> int:
    """LB_1: no job runs shorter than its shortest duration."""
    return int(instance.rates.exec_min.max())


def area(instance: SjfBcoInstance) -> int:
    """LB_2: the GPU slots of all jobs, spread over all GPUs."""
    return -(-_gpu_slots(instance) // instance.total_gpus)


def energetic_bound(instance: SjfBcoInstance) -> int:
    """Smallest M that passes the window test for every t.

    Raising M only raises the demand of a window, so the M that a failing window needs at its
    present demand is itself a bound, and the iteration jumps there. Only t below LB_1 can demand
    anything. One round costs O(LB_1 log J).
    """
    rates, N = instance.rates, instance.total_gpus
    M = max(longest_job(instance), area(instance))
    if _gpu_slots(instance) > _INT64_SAFE or N * M > _INT64_SAFE:
        return M
    rho, job_class = np.unique(rates.exec_min, return_inverse=True)
    gangs = np.zeros(len(rho), dtype=np.int64)
    np.add.at(gangs, job_class, np.array(rates.gpus, dtype=np.int64))
    # Gangs and GPU slots of the jobs shorter than each rho; the last entry is all jobs.
    gangs_below = np.concatenate([[0], np.cumsum(gangs)])
    slots_below = np.concatenate([[0], np.cumsum(gangs * rho)])
    while True:
        t = np.arange(min(int(rho[-1]), (M + 1) // 2), dtype=np.int64)
        outside = np.searchsorted(rho, t, side="right")  # rho <= t: nothing in the window
        spanning = np.maximum(np.searchsorted(rho, M - t, side="left"), outside)  # fills the window
        partly = slots_below[spanning] - slots_below[outside]
        partly -= t * (gangs_below[spanning] - gangs_below[outside])
        demand = partly + (M - 2 * t) * (gangs_below[-1] - gangs_below[spanning])
        needed = int((2 * t - (-demand // N)).max())
        if needed <= M:
            return M
        M = needed


def energetic(instance: SjfBcoInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    """Return the energetic bound as a verified dual bound."""
    from .certificate import SjfBcoCertificate

    return bound_outcome(
        instance, energetic_bound(instance), SjfBcoCertificate(formula="energetic")
    )


def combinatorial(
    instance: SjfBcoInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return the largest of the verified bounds: energetic and the certified class bound."""
    from .class_bound import class_lp

    windows = energetic_bound(instance)
    classes = class_lp(instance, limits, rng)
    outcome = energetic(instance, limits, rng)
    if int(classes.dual_bound or 0) > windows:
        outcome = classes
    outcome.notes = {
        "longest_job": longest_job(instance),
        "area": area(instance),
        "energetic": windows,
        "class_lp": classes.dual_bound,
    }
    return outcome


def bound_outcome(instance: SjfBcoInstance, bound: int, certificate: Certificate) -> MethodOutcome:
    """A verified bound; one beyond the horizon proves that no schedule exists."""
    return MethodOutcome(
        dual_bound=bound,
        voucher=Voucher.VERIFIED,
        certificate=certificate,
        proved=Status.INFEASIBLE if bound > instance.horizon_slots else None,
    )


def _gpu_slots(instance: SjfBcoInstance) -> int:
    """GPU slots of all jobs at their shortest durations, in unbounded integers."""
    shortest = instance.rates.exec_min.tolist()
    return sum(g * rho for g, rho in zip(instance.rates.gpus, shortest, strict=True))
