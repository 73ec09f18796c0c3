r"""GPU-bin bound: a configuration LP over what one GPU can run, by column generation.

`gpu_bins.py` says which prices refute a makespan M. The best ones are the duals of

.. math::
    \min \sum_k s_k \quad
    \text{s.t.} \quad & \sum_{(c, a)} a_k x_{ca} + s_k \ge D_k && \forall k: \pi_k \\
    & \sum_{a} x_{ca} \le N_c && \forall c \\
    & x, s \ge 0

where jobs with the same l_j(c) for every c and the same gang are one kind k with demand D_k, the
sum of its G_j, and a pattern a of class c holds a_k jobs of kind k of total length at most M. M is
refuted if the optimum is positive. The bound is destructive: it starts from the energetic bound
and adds one unit at a time until an M is not refuted. A pattern that fits within M fits within any
larger one, so one LP serves them all and keeps its columns. Prices are tested in every iteration,
rounded down to integers: most M are refuted long before the LP is optimal. (reconstructed)

The knapsacks are solved in units of q slots: 1 up to `MOST_UNITS` slots, then the least that keeps
the units below. A pricing with more than `MOST_SUMS` sums is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Bools, Ints
from gadgetopt.numbers.compiled import compiled, slow_note
from gadgetopt.search.state import Search
from gadgetopt.solvers.columns import ColumnPool
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...energetic import (
    energetic_bound,
)
from ...instance import SjfBcoInstance, SjfBcoSolution
from ...size_limits import refuse_many
from ..certificate.check import (
    GpuBinPrices,
    SjfBcoCertificate,
)
from ..certificate.gpu_bins import (
    GpuBins,
    gpu_bins,
    refutes,
)

#: Most units of time of a knapsack. Tuned: `benchmarks/constants.py`.
MOST_UNITS = 4096
#: Most sums of a pricing, items times units times classes, at which it takes about a second.
#: Tuned: `benchmarks/constants.py`.
MOST_SUMS = 1_000_000_000
#: Prices are the LP's times this, rounded down. Tuned: `benchmarks/constants.py`.
PRICE_SCALE = 1_000_000
#: Disjoint patterns of a class added in an iteration, per thousand kinds, and at least one.
#: Tuned: `benchmarks/constants.py`.
PATTERNS_PER_THOUSAND_KINDS = 4


@dataclass(frozen=True)
class Kinds:
    """Equal jobs, counted.

    Attributes
    ----------
    kind : Ints
        The kind of each job, shape (jobs,).
    demand : Ints
        D_k, the GPUs of all jobs of the kind together, shape (kinds,).
    count : Ints
        Jobs of the kind, shape (kinds,).
    lengths : Ints
        l_k(c) in units, shape (classes, kinds).
    """

    kind: Ints
    demand: Ints
    count: Ints
    lengths: Ints


def kinds_of(bins: GpuBins, unit: int) -> Kinds:
    """Return the kinds of jobs, with lengths in units."""
    rows = np.vstack([bins.gangs, bins.slots // unit])
    distinct, kind, count = np.unique(rows, axis=1, return_inverse=True, return_counts=True)
    kind = kind.reshape(-1)
    return Kinds(kind, distinct[0] * count, count, np.ascontiguousarray(distinct[1:]))


@method(
    name="gpu_bins",
    kind="relaxation",
    reference="GPU-bin configuration LP (reconstructed)",
    backend="highs",
)
def gpu_bin_lp(instance: SjfBcoInstance, limits: Limits) -> MethodOutcome:
    """Configuration LP over what one GPU can run, with integer prices as proof.

    Parameters
    ----------
    instance, limits
        Deterministic. With less time the bound is that of the last makespan refuted.

    Returns
    -------
    MethodOutcome
        Its notes give the energetic bound, the number of patterns and iterations, and the unit.

    Raises
    ------
    ModelRefused
        If a pricing would take too many sums.
    """
    search = Search[SjfBcoSolution]("min", limits, gap=0.0)
    start = energetic_bound(instance)
    bins = gpu_bins(instance)
    unit = -(-2 * start // MOST_UNITS)
    kinds = kinds_of(bins, unit)
    items = int(np.minimum(kinds.count, 2 * start // unit).sum())
    sums = items * len(bins.bins) * (2 * start // unit)
    refuse_many(sums, MOST_SUMS, "jobs times slots times server sizes: sums of a knapsack")
    master = _Master(bins, kinds)
    search.prove(start, SjfBcoCertificate(formula="energetic"))
    with search.interruptible():
        while search.bound <= instance.horizon_slots:
            makespan = (int(search.bound) // unit + 1) * unit - 1
            prices = master.refute(makespan // unit, search)
            if prices is None:
                break
            of_jobs = tuple(prices[kinds.kind].tolist())
            assert refutes(instance, makespan, of_jobs, unit)
            proof = GpuBinPrices(slots=makespan + 1, prices=of_jobs, unit_slots=unit)
            search.prove(makespan + 1, SjfBcoCertificate(gpu_bins=proof))
    search.infeasible = search.bound > instance.horizon_slots
    return search.outcome(
        None,
        energetic=start,
        kinds=len(kinds.demand),
        patterns=master.lp.num_columns - len(kinds.demand),
        iterations=master.iterations,
        unit_slots=unit,
        **slow_note(),
    )


class _Master:
    """The LP with the patterns found so far."""

    def __init__(self, bins: GpuBins, kinds: Kinds):
        self.bins, self.kinds = bins, kinds
        self.iterations = 0
        size, classes = len(kinds.demand), len(bins.bins)
        self.lp = PersistentLp("min")
        infinite = np.full(size, np.inf)
        none: list[float] = []
        self.lp.add_rows(kinds.demand, infinite, np.zeros(size), none, none)
        self.lp.add_rows(
            np.full(classes, -np.inf), bins.bins.astype(float), np.zeros(classes), none, none
        )
        numbers = np.arange(size)
        ones = np.ones(size)
        self.lp.add_columns(ones, np.zeros(size), infinite, numbers, numbers, ones)
        self.rounds = 1 + PATTERNS_PER_THOUSAND_KINDS * size // 1000
        self._patterns: ColumnPool[None] = ColumnPool(self.lp)

    def refute(self, length: int, search: Search[SjfBcoSolution]) -> Ints | None:
        """Return integer prices of the kinds that refute `length` units; None if there are none.

        None is also the answer when the search's time is up.
        """
        demand, classes = self.kinds.demand, len(self.bins.bins)
        while not search.clock.expired:
            status = self.lp.solve(search.clock.limits())
            self.iterations += 1
            if status is not Status.OPTIMAL:
                search.limit_hit = self.lp.limit_hit
                return None
            duals = self.lp.row_duals
            prices = np.floor(PRICE_SCALE * np.maximum(duals[: len(demand)], 0.0)).astype(np.int64)
            if not prices.any():
                return None
            earned = int(demand @ prices)
            for c in range(classes):
                patterns, value = self._best_patterns(c, prices, length)
                earned -= int(self.bins.bins[c]) * value
                rent = max(0.0, -float(duals[len(demand) + c])) * PRICE_SCALE
                self._add(c, patterns, prices, rent)
            new = self._patterns.enter()
            if earned > 0:
                return prices
            if not new:
                return None
        search.limit_hit = "time_s"
        return None

    def _best_patterns(self, c: int, prices: Ints, length: int) -> tuple[Ints, int]:
        """Return disjoint patterns of class c, the best one first, and what that one is worth."""
        lengths = self.kinds.lengths[c]
        useful = np.flatnonzero((prices > 0) & (lengths <= length))
        copies = np.minimum(self.kinds.count[useful], length // np.maximum(lengths[useful], 1))
        item = np.repeat(useful, np.where(lengths[useful] == 0, self.kinds.count[useful], copies))
        taken = np.zeros((self.rounds, len(prices)), np.int64)
        value = _disjoint_knapsacks(
            lengths[item],
            prices[item],
            item,
            taken,
            np.zeros(length + 1, np.int64),
            np.zeros((len(item), length + 1), np.bool_),
        )
        return taken, int(value)

    def _add(self, c: int, patterns: Ints, prices: Ints, rent: float) -> None:
        """Add the patterns worth more than their rent."""
        size = len(self.kinds.demand)
        for pattern in patterns:
            if float(pattern @ prices) > rent + 1:
                used = np.flatnonzero(pattern)
                rows, values = np.append(used, size + c), np.append(pattern[used], 1)
                self._patterns.add((c, pattern.tobytes()), None, 0.0, rows, values)


@compiled
def _disjoint_knapsacks(
    lengths: Ints, worth: Ints, kind: Ints, taken: Ints, best: Ints, chosen: Bools
) -> int:
    """Find patterns of disjoint kinds, each the best of the kinds left; return the first's worth.

    Parameters
    ----------
    taken : Ints
        Zeros; set to how many items of every kind a pattern has, shape (rounds, kinds).
    best, chosen : Ints, Bools
        Room for what is worth most in a length, shape (1 + room,), and whether an item is in it,
        shape (items, 1 + room). New arrays would take much longer to compile.
    """
    room = len(best) - 1
    first = 0
    for r in range(len(taken)):
        for left in range(room + 1):
            best[left] = 0
        for i in range(len(lengths)):
            for left in range(room + 1):
                chosen[i, left] = False
            used = False
            for before in range(r):
                if taken[before, kind[i]] > 0:
                    used = True
            if used:
                continue
            w, v = lengths[i], worth[i]
            for left in range(room, w - 1, -1):
                x = best[left - w] + v
                if x > best[left]:
                    best[left] = x
                    chosen[i, left] = True
        if r == 0:
            first = best[room]
        if best[room] == 0:
            break
        left = room
        for i in range(len(lengths) - 1, -1, -1):
            if chosen[i, left]:
                taken[r, kind[i]] += 1
                left -= lengths[i]
    return first
