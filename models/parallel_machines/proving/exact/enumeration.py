r"""Enumeration of the patterns that a packing can have, by their reduced costs.

Let z be the optimum of the linear pattern program at a capacity and :math:`\pi` its duals. A
packing into m machines has patterns P with :math:`\sum_P (1 - \pi a_P) = m - z`, where no term is
negative. So each pattern has a reduced cost :math:`1 - \pi a_P \le m - z`, and only few patterns
do. Nor may a machine be idle for longer than :math:`m C - \sum_j p_j`.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.search.clock import Clock

from ..bounds.patterns import MOST_ENTRIES, Demand, Pattern, pack_fractionally

#: Patterns that are enumerated at most. Tuned: `benchmarks/constants.py`.
MOST_PATTERNS = 50_000

#: Margin added to m - z, as the duals are a solver's doubles. Tuned: `benchmarks/constants.py`.
_MARGIN = 1e-6


def possible_patterns(
    demand: Demand,
    capacity_s: int,
    pool: dict[Pattern, int],
    clock: Clock,
) -> list[Pattern] | None:
    """Return every pattern that a packing into the machines can have; None if too many or no time.

    Nothing fits if the list is empty.
    """
    entries = (capacity_s + 1) * (len(demand.times_s) + 1)
    if entries > MOST_ENTRIES // 8:  # in doubles here
        return None
    packing = pack_fractionally(demand, capacity_s, pool, clock, to_optimum=True)
    if packing.prices is None:
        return None
    slack = demand.machines - float(packing.prices @ demand.counts) + _MARGIN
    if slack < 0:
        return []
    cheap = _cheap_patterns(demand, packing.prices.tolist(), capacity_s, 1 - slack, clock)
    if cheap is None:
        return None
    total_s = demand.load_s(demand.counts)
    least_s = capacity_s - (demand.machines * capacity_s - total_s)
    possible = [pattern for pattern in cheap if demand.load_s(pattern) >= least_s]
    every = all(any(counts) for counts in zip(*possible, strict=True))
    return possible if every else []  # a job that is in no pattern fits nowhere


def _cheap_patterns(
    demand: Demand,
    prices: list[float],
    capacity_s: int,
    least_worth: float,
    clock: Clock,
) -> list[Pattern] | None:
    """Return the patterns worth at least so much, by depth-first search; None if too many."""
    most = _most_worth(demand, prices, capacity_s)
    found: list[Pattern] = []
    stack: list[tuple[Pattern, int, float]] = [((), capacity_s, 0.0)]
    while stack:
        pattern, room, worth = stack.pop()
        t = len(pattern)
        if t == len(prices):
            found.append(pattern)
            if len(found) > MOST_PATTERNS:
                return None
            continue
        if clock.expired:
            return None
        for a in range(min(demand.counts[t], room // demand.times_s[t]) + 1):
            room_after = room - a * demand.times_s[t]
            worth_after = worth + a * prices[t]
            if worth_after + most[t + 1, room_after] >= least_worth:
                stack.append(((*pattern, a), room_after, worth_after))
    return found


def _most_worth(demand: Demand, prices: list[float], capacity_s: int) -> np.ndarray:
    """Return the largest worth of jobs from each processing time on, by room."""
    most = np.zeros((len(prices) + 1, capacity_s + 1))
    for t in range(len(prices) - 1, -1, -1):
        most[t] = most[t + 1]
        d = demand.times_s[t]
        for a in range(1, min(demand.counts[t], capacity_s // d) + 1):
            np.maximum(
                most[t, a * d :],
                most[t + 1, : capacity_s + 1 - a * d] + a * prices[t],
                out=most[t, a * d :],
            )
    return most
