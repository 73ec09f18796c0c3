r"""Column generation for the linear pattern program at a capacity.

The linear pattern program of a capacity C minimises the number of machines,

.. math::
    \min \sum_P \lambda_P, \qquad
    \sum_P a_{dP}\, \lambda_P \ge b_d \ \forall d, \qquad \lambda \ge 0,

over the patterns of load at most C. Given the duals :math:`\pi_d`, the pattern of the largest
:math:`v = \sum_d \pi_d a_{dP}` is the solution of a bounded knapsack. If it is at most 1, the
program is solved; before that, :math:`\sum_d \pi_d b_d / v` bounds it from below (Farley 1990).

A. A. Farley, "A note on bounding a class of linear programming problems, including cutting stock
problems", Operations Research 38 (1990) 922-923.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.memory import MOST_CELLS as TABLE_CELLS
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.columns import ColumnPool
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.result import Status

from ...counting import bundle_sizes

#: Entries of the pricing problem's table.
MOST_ENTRIES = 5 * TABLE_CELLS

#: Tolerance of the linear programs: of a number of machines, and of a reduced cost.
#: Tuned: `benchmarks/constants.py`.
_TOLERANCE = 1e-7

#: Number of jobs of each distinct processing time.
Pattern = tuple[int, ...]


@dataclass(frozen=True)
class Demand:
    """Distinct processing times, how many jobs there are of each, and the machines for them."""

    times_s: tuple[int, ...]
    counts: tuple[int, ...]
    machines: int

    def load_s(self, pattern: Pattern) -> int:
        """Return the load of a pattern."""
        return sum(a * d for a, d in zip(pattern, self.times_s, strict=True))


@dataclass(frozen=True)
class Packing:
    """Outcome of column generation.

    Attributes
    ----------
    fits : bool or None
        True if the machines hold the jobs fractionally, False if `prices` prove that they do not;
        None if time ran out.
    patterns : list of (Pattern, float)
        If the jobs fit, the patterns used and how often.
    prices : ndarray
        If they do not fit, or if `to_optimum` was set: duals under which no pattern is worth more
        than 1.
    """

    fits: bool | None
    patterns: list[tuple[Pattern, float]] = field(default_factory=list)
    prices: Floats | None = None


def pack_fractionally(
    demand: Demand,
    capacity_s: int,
    pool: dict[Pattern, int],
    clock: Clock,
    *,
    to_optimum: bool = False,
) -> Packing:
    """Pack the jobs into machines of a capacity fractionally, or prove that they do not fit.

    Parameters
    ----------
    demand : Demand
    capacity_s : int
        At least the longest processing time.
    pool : dict
        Patterns known, with their loads; those that are found are added.
    clock : Clock
        Its remaining time is the limit of the linear programs.
    to_optimum : bool, default False
        Go on after the jobs fit, until the duals are optimal.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C, also where it stopped the solver.
    """
    master = _Master(demand)
    for pattern in _first_patterns(demand, capacity_s):
        pool.setdefault(pattern, demand.load_s(pattern))
    master.add(
        pattern
        for pattern, load_s in pool.items()
        if load_s <= capacity_s and all(map(int.__le__, pattern, demand.counts))
    )
    while not clock.expired:
        if master.lp.solve(clock.limits()) is not Status.OPTIMAL:
            if master.lp.limit_hit == "interrupted":
                raise KeyboardInterrupt
            break
        fits = master.lp.objective <= demand.machines + _TOLERANCE
        if fits and not to_optimum:
            return Packing(True, master.used())
        prices = np.maximum(master.lp.row_duals, 0.0)
        pattern, worth = best_pattern(demand, prices, capacity_s)
        needed = float(prices @ demand.counts) / max(worth, 1.0)
        # A pattern that is there already is worth more than 1 by rounding only.
        if worth <= 1 + _TOLERANCE or pattern in master.patterns:
            return Packing(fits, master.used() if fits else [], prices / max(worth, 1.0))
        if needed > demand.machines + _TOLERANCE:
            return Packing(False, prices=prices / worth)
        pool[pattern] = demand.load_s(pattern)
        master.add([pattern])
    return Packing(None)


class _Master:
    """The linear program over the patterns so far."""

    def __init__(self, demand: Demand):
        self.lp = PersistentLp("min")
        rows = len(demand.counts)
        self.lp.add_rows(demand.counts, [INFINITY] * rows, [0] * rows, [], [])
        self.patterns: ColumnPool[Pattern] = ColumnPool(self.lp)

    def add(self, patterns: Iterable[Pattern]) -> None:
        """Add patterns as columns."""
        for pattern in patterns:
            used = [t for t, a in enumerate(pattern) if a]
            self.patterns.add(pattern, pattern, 1.0, used, [pattern[t] for t in used])
        self.patterns.enter()

    def used(self) -> list[tuple[Pattern, float]]:
        """Return the patterns used, and how often."""
        return self.patterns.used(_TOLERANCE)


def _first_patterns(demand: Demand, capacity_s: int) -> list[Pattern]:
    """Return for every processing time a machine that starts with it and is filled greedily."""
    patterns = []
    for first in range(len(demand.times_s)):
        room, pattern = capacity_s, [0] * len(demand.times_s)
        for t in [first, *range(len(demand.times_s))]:
            count = min(demand.counts[t] - pattern[t], room // demand.times_s[t])
            pattern[t] += count
            room -= count * demand.times_s[t]
        patterns.append(tuple(pattern))
    return patterns


def best_pattern(demand: Demand, prices: Floats, capacity_s: int) -> tuple[Pattern, float]:
    """Return the pattern of the largest worth, by dynamic programming in O(capacity x jobs)."""
    bundles = [
        (t, n)
        for t, (d, count) in enumerate(zip(demand.times_s, demand.counts, strict=True))
        if prices[t] > 0
        for n in bundle_sizes(min(count, capacity_s // d))
    ]
    if len(bundles) * (capacity_s + 1) > MOST_ENTRIES:
        raise ModelRefused(
            f"a pattern's knapsack has {len(bundles)} x {capacity_s + 1} entries, expected at most "
            f"{MOST_ENTRIES}"
        )
    best = np.zeros(capacity_s + 1)
    taken = np.zeros((len(bundles), capacity_s + 1), dtype=np.bool_)
    for b, (t, n) in enumerate(bundles):
        size_s = n * demand.times_s[t]
        with_it = best[: capacity_s + 1 - size_s] + n * prices[t]
        np.greater(with_it, best[size_s:], out=taken[b, size_s:])
        np.maximum(with_it, best[size_s:], out=best[size_s:])
    pattern, room = [0] * len(demand.times_s), capacity_s
    for b in range(len(bundles) - 1, -1, -1):
        if taken[b, room]:
            t, n = bundles[b]
            pattern[t] += n
            room -= n * demand.times_s[t]
    return tuple(pattern), float(best[-1])
