"""Diving: patterns of the linear program are fixed one by one, and the rest is solved again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gadgetopt.search.clock import Clock

from ...formulations.makespan import jobs_by_time
from ...instance import ParallelMachinesInstance, ParallelMachinesSolution
from ..bounds.patterns import Demand, Pattern, pack_fractionally

#: In dives after the first, a pattern is drawn from this many of the largest shares.
#: Tuned: `benchmarks/constants.py`.
_CHOICES = 4


def dive(
    demand: Demand,
    capacity_s: int,
    pool: dict[Pattern, int],
    rng: np.random.Generator | None,
    clock: Clock,
) -> list[Pattern] | None:
    """Return patterns, one for each machine, that hold all jobs; None if the dive fails.

    Patterns that the linear program uses at least once are fixed that many times. If there are
    none, the pattern of the largest share is fixed, or with an `rng` one drawn from the largest
    few.
    """
    fixed: list[Pattern] = []
    while any(demand.counts):
        found = pack_fractionally(demand, capacity_s, pool, clock)
        if not found.fits:
            return None
        whole = [pattern for pattern, x in found.patterns for _ in range(int(x + 1e-6))]
        for pattern in whole or [_drawn(demand, found.patterns, rng)]:
            # Jobs may be covered twice; a pattern takes those that are left.
            taken = tuple(map(min, pattern, demand.counts))
            if not any(taken):
                continue
            fixed.append(taken)
            left = tuple(b - a for a, b in zip(taken, demand.counts, strict=True))
            demand = replace(demand, counts=left, machines=demand.machines - 1)
    return fixed


def _drawn(
    demand: Demand, shares: list[tuple[Pattern, float]], rng: np.random.Generator | None
) -> Pattern:
    """Return the pattern of the largest share and load, or one of the next few at random."""
    best = sorted(shares, key=lambda px: (px[1], demand.load_s(px[0])), reverse=True)
    if rng is None:
        return best[0][0]
    return best[int(rng.integers(min(_CHOICES, len(best))))][0]


def schedule_of(
    instance: ParallelMachinesInstance, patterns: list[Pattern]
) -> ParallelMachinesSolution:
    """Return the schedule that has one of these patterns on each machine."""
    times_s = list(instance.demand)
    machines = [
        [d for d, a in zip(times_s, pattern, strict=True) for _ in range(a)] for pattern in patterns
    ]
    return jobs_by_time(instance, machines)
