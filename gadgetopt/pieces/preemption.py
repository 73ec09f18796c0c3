"""Jackson's preemptive schedule of one machine, whose jobs have heads and tails.

Always serving the job of the largest tail that is there solves 1 | r_j, q_j, pmtn | C_max, which is
a lower bound where jobs are not interrupted. (J. R. Jackson 1955; J. Carlier 1982.)
"""

from __future__ import annotations

import heapq


def preemptive_makespan(jobs: list[tuple[int, int, int]]) -> int:
    """Return the makespan of Jackson's preemptive schedule.

    Parameters
    ----------
    jobs : list of (int, int, int)
        Head, length and tail of each.
    """
    waiting = sorted(jobs)
    available: list[list[int]] = []  # [-tail, length left]
    now = best = k = 0
    while k < len(waiting) or available:
        if not available:
            now = max(now, waiting[k][0])
        while k < len(waiting) and waiting[k][0] <= now:
            heapq.heappush(available, [-waiting[k][2], waiting[k][1]])
            k += 1
        longest = available[0]
        step = longest[1]
        if k < len(waiting):
            step = min(step, waiting[k][0] - now)
        now += step
        longest[1] -= step
        if longest[1] == 0:
            heapq.heappop(available)
            best = max(best, now - longest[0])
    return best
