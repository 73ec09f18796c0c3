r"""The bounds by the longest job, area and time windows, for the check: plain whole numbers.

`energetic.py` states them, and the search computes them with arrays; a test holds the two against
each other. A job of :math:`\rho` slots on G GPUs spends at least :math:`\min\{M - 2t, (\rho -
t)^+\}` slots in the window [t, M - t) of a schedule of M slots. As a function of t, what the jobs
need there, less what the window has, is linear between the :math:`\rho` and the :math:`M - \rho`:
it is largest at one of them, or at the first or the last window.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import accumulate
from typing import Literal

from ...instance import SjfBcoInstance

#: Bounds that a certificate names.
Formula = Literal["longest_job", "area", "energetic"]


def formula_bound(instance: SjfBcoInstance, formula: Formula) -> int:
    """Return the bound that a formula gives, in slots."""
    shortest = instance.rates.exec_min.tolist()
    gpus_of: Counter[int] = Counter()
    for rho, gpus in zip(shortest, instance.rates.gpus, strict=True):
        gpus_of[rho] += gpus
    longest = max(gpus_of)
    area = -(-sum(rho * gpus for rho, gpus in gpus_of.items()) // instance.total_gpus)
    if formula == "longest_job":
        return longest
    if formula == "area":
        return area
    # Above `high` no job fills a window, and all have room for what is part of the area. Whatever
    # the end, the bound is one more than some M of which a window failed.
    low, high = max(longest, area), area + 2 * longest
    windows = _Windows(gpus_of, instance.total_gpus)
    while low < high:
        middle = (low + high) // 2
        if windows.hold(middle):
            high = middle
        else:
            low = middle + 1
    return low


class _Windows:
    """What jobs need in the windows of schedules; `gpus_of` has the GPUs of each duration."""

    def __init__(self, gpus_of: dict[int, int], total_gpus: int):
        self.total_gpus: int = total_gpus
        self.rho: list[int] = sorted(gpus_of)
        gpus = [gpus_of[rho] for rho in self.rho]
        work = [rho * gpus_of[rho] for rho in self.rho]
        # Of the k shortest durations.
        self.gpus: list[int] = [0, *accumulate(gpus)]
        self.work: list[int] = [0, *accumulate(work)]

    def hold(self, M: int) -> bool:
        """Return True if all windows of a schedule of M slots have room for what jobs need."""
        last = (M - 1) // 2
        turns = {0, last, *self.rho, *(M - rho for rho in self.rho)}
        return all(
            self._need(M, t) <= self.total_gpus * (M - 2 * t) for t in turns if 0 <= t <= last
        )

    def _need(self, M: int, t: int) -> int:
        """Return the GPU slots that jobs need in [t, M - t)."""
        avoiding = bisect_right(self.rho, t)
        filling = max(avoiding, bisect_left(self.rho, M - t))
        partly = self.work[filling] - self.work[avoiding]
        partly -= t * (self.gpus[filling] - self.gpus[avoiding])
        return partly + (M - 2 * t) * (self.gpus[-1] - self.gpus[filling])
