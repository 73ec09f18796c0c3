r"""Lower bounds on the makespan by area and time windows, from the data alone.

With rho_j the shortest duration of job j over every number of servers and level it can meet:

.. math::
    LB_1 = \max_j \rho_j, \qquad LB_2 = \Big\lceil \sum_j G_j \rho_j / N \Big\rceil,

and the energetic bound, the smallest M >= max(LB_1, LB_2) such that for every 0 <= t < M/2

.. math::
    \sum_j G_j \min\{M - 2t, (\rho_j - t)^+\} \le N (M - 2t).

A job of length rho inside [0, M) spends at least min(M - 2t, (rho - t)^+) slots in the window
[t, M - t): at most t of them lie before it or at most t after it. All formulas are
(reconstructed): the paper has none.
"""

from __future__ import annotations

import numpy as np

from .instance import SjfBcoInstance

#: Numbers up to this are 64-bit integers, larger ones Python integers. By definition.
_INT64_SAFE = 2**61


def longest_job(instance: SjfBcoInstance) -> int:
    """Return LB_1, the largest shortest duration of a job."""
    return int(instance.rates.exec_min.max())


def area(instance: SjfBcoInstance) -> int:
    """Return LB_2, the GPU slots of all jobs over the number of GPUs."""
    shortest = instance.rates.exec_min.tolist()
    gpu_slots = sum(g * rho for g, rho in zip(instance.rates.gpus, shortest, strict=True))
    return -(-gpu_slots // instance.total_gpus)


def energetic_bound(instance: SjfBcoInstance) -> int:
    """Return the smallest M that passes the window test for every t.

    If M passes, every larger M does. Some M below LB_2 + 2 LB_1 passes: there no job fills a
    window, and the demand is part of the area. So M is bisected. The M that a failing window needs
    at its present demand is also a lower bound and mostly ends the search at once. A test takes
    O(J log J), independent of the number of slots.
    """
    windows = _Windows(instance)
    low = max(longest_job(instance), area(instance))
    high = area(instance) + 2 * longest_job(instance)
    while low < high:
        needed = windows.needed(low)
        if needed <= low:
            break
        low, middle = needed, (needed + high) // 2
        if windows.needed(middle) <= middle:
            high = middle
        else:
            low = middle + 1
    return low


class _Windows:
    """Demand of the windows [t, M - t), a piecewise linear function of t.

    The demand of a job changes its slope at t = rho_j, beyond which the job can avoid the window,
    and at t = M - rho_j, beyond which it fills the window. So the largest M that any window needs
    is needed at one of these points, or by the first or the last window.
    """

    def __init__(self, instance: SjfBcoInstance):
        self.gpus = instance.total_gpus
        rho, job_class = np.unique(instance.rates.exec_min, return_inverse=True)
        most_gpus = max(self.gpus, sum(instance.rates.gpus))
        largest = 2 * most_gpus * (area(instance) + 2 * longest_job(instance))
        dtype = np.int64 if largest <= _INT64_SAFE else object
        self.rho = rho.astype(dtype)
        gangs = np.zeros(len(self.rho), dtype=dtype)
        np.add.at(gangs, job_class, np.array(instance.rates.gpus, dtype=dtype))
        # Gangs and GPU slots of the jobs shorter than each rho; the last entry counts all jobs.
        self.gangs_below = np.concatenate([[0], np.cumsum(gangs)])
        self.slots_below = np.concatenate([[0], np.cumsum(gangs * self.rho)])

    def needed(self, M: int) -> int:
        """Return the largest M that any window needs, given its demand at this M."""
        last = min(int(self.rho[-1]), (M + 1) // 2) - 1  # no demand in later windows
        t = np.concatenate([[0, last], self.rho, M - self.rho])
        t = t[(t >= 0) & (t <= last)]
        outside = np.searchsorted(self.rho, t, side="right")  # rho <= t: nothing in the window
        # rho >= M - t: the window is filled
        filling = np.maximum(np.searchsorted(self.rho, M - t, side="left"), outside)
        partly = self.slots_below[filling] - self.slots_below[outside]
        partly = partly - t * (self.gangs_below[filling] - self.gangs_below[outside])
        demand = partly + (M - 2 * t) * (self.gangs_below[-1] - self.gangs_below[filling])
        return int((2 * t - (-demand // self.gpus)).max())
