r"""Prices that prove about B2: those of the preemptive single machine under Smith's rule.

The machine runs job j at density :math:`\rho_j = w_j / v_j`, weight per GPU-tick of work. A unit
of capacity that is taken away at time t delays the job that runs then until its completion
:math:`C_j`, and from there on what runs next, so the optimal duals are

.. math:: \pi(t) = \rho_j (C_j - t) + \pi(C_j) \quad \text{while job j runs},

and 0 while the machine is idle: a piecewise linear function, found backwards in O(n log n). It is
where an ascent begins, and what it refines.
"""

from __future__ import annotations

import heapq

import numpy as np

from gadgetopt.numbers.arrays import Floats


class SmithPrices:
    """The price function of jobs given as arrays of shape (jobs,)."""

    def __init__(self, release: Floats, work: Floats, weight: Floats, total_gpus: float) -> None:
        density = weight / work
        pieces = _pieces(release.tolist(), (work / total_gpus).tolist(), density.tolist())
        self.start: Floats = np.array([p[0] for p in pieces])
        self.end: Floats = np.array([p[1] for p in pieces])
        job = np.array([p[2] for p in pieces])
        self.slope: Floats = density[job]
        self.price: Floats = _backwards(pieces, density.tolist())

    def on(self, times: Floats) -> Floats:
        """Return the price in the middle of each interval of a grid, shape (K,)."""
        middle = (times[:-1] + times[1:]) / 2
        k = np.searchsorted(self.start, middle, side="right") - 1
        busy = (k >= 0) & (middle < self.end[k])
        price = self.price[k] - self.slope[k] * (middle - self.start[k])
        return np.where(busy, np.maximum(price, 0.0), 0.0)


def _pieces(
    release: list[float], left: list[float], density: list[float]
) -> list[tuple[float, float, int, bool]]:
    """Return what the machine runs: start, end, job, and whether the job then completes."""
    order = sorted(range(len(release)), key=release.__getitem__)
    heap: list[tuple[float, int]] = []
    pieces = []
    now, coming = 0.0, 0
    while heap or coming < len(order):
        if not heap:
            now = max(now, release[order[coming]])
        while coming < len(order) and release[order[coming]] <= now:
            j = order[coming]
            heapq.heappush(heap, (-density[j], j))
            coming += 1
        j = heap[0][1]
        end = now + left[j]
        completes = coming == len(order) or end <= release[order[coming]]
        if completes:
            heapq.heappop(heap)
        else:
            end = release[order[coming]]
            left[j] -= end - now
        pieces.append((now, end, j, completes))
        now = end
    return pieces


def _backwards(pieces: list[tuple[float, float, int, bool]], density: list[float]) -> Floats:
    """Return the price at the start of every piece."""
    completion: dict[int, tuple[float, float]] = {}
    price = np.zeros(len(pieces))
    next_start, next_price = np.inf, 0.0
    for k in range(len(pieces) - 1, -1, -1):
        start, end, j, completes = pieces[k]
        if completes:
            completion[j] = end, next_price if next_start == end else 0.0
        at, after = completion[j]
        price[k] = density[j] * (at - start) + after
        next_start, next_price = start, price[k]
    return price
