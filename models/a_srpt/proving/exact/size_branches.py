r"""Branch and bound on the starts of the pool's jobs, with prices by size as bounds (ours).

Where prices by size are nearly the optimum, few starts are left to a cheaper schedule, and most
jobs are certain in most intervals. So branches close soon, though jobs are many and long:

1. Prices by size within the windows of a branch (`SizeProgram`), on a grid of the windows'
   beginnings, of a list schedule's moments, and of starts that programs mixed before.
2. The program's mean starts are an order of jobs, with which a better schedule is sought.
3. Starts that cost too much under the prices are cut off at both ends of the windows. Back to 1 as
   long as the bound rises enough.
4. The window of one job is cut in two, where the program mixes starts that lie far apart: at the
   tick between them that costs most if it costs too much, so that both sides shrink further.

All of it is recorded; `certificate.size_branches` checks it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.search.clock import Clock

from ...relaxations import Pool, whole_sum
from ..bounds.list_schedule import listed
from ..bounds.size_prices import (
    BROKEN,
    MOST_ENTRIES,
    MOST_INTERVALS,
    SizeProgram,
    size_proof,
)
from ..certificate.check import SizeBranch, SizeBranches

#: Programs of a branch at most, and the part of what is open by which the bound has to rise from
#: one to the next. Tuned: `benchmarks/constants.py`.
MOST_PROGRAMS, RISES = 6, 0.1
#: Part of the least difference of costs by which bounds are above what they have to be, as prices
#: are rounded for the check. Tuned: `benchmarks/constants.py`.
MARGIN = 0.01
#: Cuts one after another, beyond which the search is given up.
#: Tuned: `benchmarks/constants.py`.
DEEPEST = 12

#: Takes an order of jobs, returns the least cost known, times the weight scale.
Improve = Callable[[Ints], int]


@dataclass(frozen=True, eq=False)
class _Branch:
    """Windows of starts, and what a program begins with: starts, columns, ticks of its grid."""

    earliest: Ints
    latest: Ints
    starts: Floats
    columns: list[tuple[int, int]]
    ticks: Ints


@dataclass(frozen=True, eq=False)
class _Solved:
    """A branch's program, its prices, what they prove, and what starts cost under them."""

    branch: _Branch
    program: SizeProgram
    prices: Floats
    bound: float
    costs: Floats

    @cached_property
    def used(self) -> list[list[tuple[int, float]]]:
        """Each job's starts in the program's solution, rising, and their parts."""
        used: list[list[tuple[int, float]]] = [[] for _ in self.branch.starts]
        for j, start, value in self.program.used():
            if value > BROKEN:
                used[j].append((start, value))
        for starts, earliest in zip(used, self.branch.earliest.tolist(), strict=True):
            starts.sort()
            if not starts:
                starts.append((earliest, 1.0))
        return used

    @cached_property
    def means(self) -> Floats:
        """The mean of each job's starts."""
        return np.array([sum(s * x for s, x in u) / sum(x for _, x in u) for u in self.used])

    def cut(self, most: Floats) -> tuple[int, int] | None:
        """Return a job and the tick at which to cut its window; None if every job has one start.

        Parameters
        ----------
        most : array, shape (jobs,)
            Cost above which a better schedule has no start.
        """
        best, chosen = -1.0, None
        for j, starts in enumerate(self.used):
            below = 0.0
            for (first, part), (second, _) in pairwise(starts):
                below += part
                apart = min(below, 1.0 - below) * (second - first)
                if apart > best:
                    best, chosen = apart, (j, first, second)
        if chosen is None:
            return None
        job, first, second = chosen
        at = self.program.starts[job]
        cost = np.where((first < at) & (at <= second), self.costs[job], -math.inf)
        dearest = int(cost.argmax())
        return job, int(at[dearest]) if cost[dearest] > most[job] else (first + second + 1) // 2


class SizeBranching:
    """The search for a proof that no schedule of a pool is better than the best one known.

    Parameters
    ----------
    pool : Pool
    value : int
        Of a known schedule, times the weight scale.
    improve : callable
        Is called with orders of jobs, which may be lists of better schedules.
    clock : Clock
    """

    def __init__(self, pool: Pool, value: int, improve: Improve, clock: Clock):
        self.pool, self.improve, self.clock = pool, improve, clock
        self.unit = int(np.gcd.reduce(pool.weight))
        self.below = value // self.unit * self.unit
        self.branches: list[SizeBranch] = []
        self._known: dict[tuple[int, ...], None] = {}

    def proof(self, starts: Floats) -> SizeBranches | None:
        """Return the proof; None if time is up, or branches are too deep or too large.

        Parameters
        ----------
        starts : array, shape (jobs,)
            Of a good schedule.
        """
        pool = self.pool
        # All other jobs at their release, a job that starts later than this costs too much.
        spare = self.below - whole_sum(pool.weight * (pool.release + pool.duration))
        latest, none = pool.release + spare // pool.weight, np.zeros(0, dtype=np.int64)
        if not self._closes(_Branch(pool.release, latest, starts, [], none), 0):
            return None
        bound = Fraction(self.below, pool.weight_scale)
        return SizeBranches(bound=bound, branches=tuple(self.branches))

    @property
    def _enough(self) -> float:
        """Bounds above this leave no better schedule."""
        return (self.below - self.unit * (1 - MARGIN)) / self.pool.weight_scale

    def _most(self, solved: _Solved) -> Floats:
        """Return the cost under prices above which a better schedule has no start of a job."""
        most: Floats = solved.costs.min(axis=1) + (self._enough - solved.bound)
        return most

    def _closes(self, branch: _Branch, depth: int) -> bool:
        """Take steps 1 to 4; return True if a branch has no better schedule."""
        last = -math.inf
        for count in range(1, MOST_PROGRAMS + 1):
            solved = self._solve(branch)
            if solved is None:
                return False
            if solved.bound > self._enough:
                self._record(solved, None)
                return True
            left = self._left(solved)
            rises = solved.bound - last > RISES * (self._enough - solved.bound)
            if count == MOST_PROGRAMS or not (rises and _differ(branch, left)):
                return depth < DEEPEST and self._both_close(solved, left, depth)
            self._record(solved, None)
            branch, last = left, solved.bound
        return False

    def _both_close(self, solved: _Solved, left: _Branch, depth: int) -> bool:
        """Take step 4; return True if neither side of what is left has a better schedule."""
        cut = solved.cut(self._most(solved))
        if cut is None:
            return False
        self._record(solved, cut)
        job, tick = cut
        before, after = left.latest.copy(), left.earliest.copy()
        before[job], after[job] = tick - 1, tick
        for earliest, latest in ((left.earliest.copy(), before), (after, left.latest.copy())):
            side = replace(left, earliest=earliest, latest=latest)
            self._shrink(side, solved, self._most(solved), job)
            if not self._closes(side, depth + 1):
                return False
        return True

    def _solve(self, branch: _Branch) -> _Solved | None:
        """Take steps 1 and 2; return None if time is up, or the program is too large."""
        program = self._program(branch)
        if program is None:
            return None
        bound, prices = program.solve(self.clock, self._enough)
        if prices is None or self.clock.expired:
            return None
        solved = _Solved(branch, program, prices, bound, program.costs(prices))
        if bound <= self._enough:
            value = self.improve(np.lexsort((self.pool.duration, solved.means)))
            self.below = min(self.below, value // self.unit * self.unit)
        return solved

    def _program(self, branch: _Branch) -> SizeProgram | None:
        """Return the program of a branch with its first columns, None if it is too large."""
        pool = replace(self.pool, release=branch.earliest)
        order_by = np.clip(branch.starts, branch.earliest, branch.latest)
        starts = listed(pool, order_by).astype(np.int64)
        begins = branch.earliest, starts
        ends = [at + pool.duration for at in begins]
        times = np.unique(np.concatenate([*begins, *ends, branch.ticks]))
        if len(times) > MOST_INTERVALS or len(times) * len(starts) > MOST_ENTRIES:
            return None
        program = SizeProgram(pool, times, branch.latest, self._known)
        if program.is_too_large:
            return None
        starts = np.where(starts <= branch.latest, starts, branch.earliest)
        columns = dict.fromkeys(enumerate(starts.tolist()))
        for job, start in branch.columns:
            if branch.earliest[job] <= start <= branch.latest[job]:
                columns[job, start] = None
        program.add_columns([*columns])
        return program

    def _record(self, solved: _Solved, cut: tuple[int, int] | None) -> None:
        branch, program = solved.branch, solved.program
        rows = size_proof(program.pool, program.times, solved.prices, branch.latest)
        self.branches.append(
            SizeBranch(
                **rows.model_dump(),
                earliest=tuple(branch.earliest.tolist()),
                latest=tuple(branch.latest.tolist()),
                cut=cut,
            )
        )

    def _left(self, solved: _Solved) -> _Branch:
        """Take step 3; return the windows, and what their program begins with."""
        branch = solved.branch
        mixed = [
            tick
            for starts, d in zip(solved.used, self.pool.duration.tolist(), strict=True)
            if len(starts) > 1
            for start, _ in starts
            for tick in (start, start + d)
        ]
        left = _Branch(
            branch.earliest.copy(),
            branch.latest.copy(),
            solved.means,
            [(j, start) for j, starts in enumerate(solved.used) for start, _ in starts],
            np.union1d(branch.ticks, np.array(mixed, dtype=np.int64)),
        )
        most = self._most(solved)
        for job in range(len(most)):
            self._shrink(left, solved, most, job)
        return left

    @staticmethod
    def _shrink(left: _Branch, solved: _Solved, most: Floats, job: int) -> None:
        """Cut off a job's starts at both ends of its window that no better schedule has."""
        first, last = int(left.earliest[job]), int(left.latest[job])
        corners = solved.program.starts[job]
        inside = corners[(first < corners) & (corners < last)]
        at = np.concatenate([[first], inside, [last]])
        cost = np.interp(at, corners, solved.costs[job])
        possible = np.flatnonzero(cost <= most[job])
        if not len(possible):
            return
        a, b = possible[0], possible[-1]
        if a > 0:
            part = (most[job] - cost[a]) / (cost[a - 1] - cost[a])
            left.earliest[job] = math.ceil(at[a] - part * (at[a] - at[a - 1]))
        if b < len(at) - 1:
            part = (most[job] - cost[b]) / (cost[b + 1] - cost[b])
            left.latest[job] = math.floor(at[b] + part * (at[b + 1] - at[b]))


def _differ(branch: _Branch, left: _Branch) -> bool:
    return (
        len(left.ticks) > len(branch.ticks)
        or bool((left.earliest > branch.earliest).any())
        or bool((left.latest < branch.latest).any())
    )
