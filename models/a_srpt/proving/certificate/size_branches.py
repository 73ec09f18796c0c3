r"""The check that no schedule of the pool is below a cost, by prices by size and cuts of windows.

A *branch* has a window of starts for every job, and prices by size (`size_prices`). In windows,
more jobs are certain, so the prices prove a bound L of all schedules whose jobs start within them.

* If L is above all costs below the one that is claimed, the branch is done.
* Otherwise a start s of a job, at :math:`c_j(s)` under the prices, is left only if
  :math:`L + c_j(s) - \min c_j` is not; so windows shrink. What is left may be *cut*: one job
  starts before a time, or else at that time or later. The branches that follow must hold all that
  is left.

Branches stand in the order in which they are looked at: after one that is cut, the earlier side
with all that follows from it, then the later side. An optimal schedule has whole ticks
(`relaxations.lattice_ceiling`), so starts are whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.memory import MOST_CELLS

from ...relaxations import Pool, whole_sum
from .price_checks import INT64_SAFE, Numbers, cumulated
from .size_prices import LARGE, most_paid, takes_long, who_pays

#: Jobs of all branches that a check looks at, a tenth of a millisecond each.
#: Tuned: `benchmarks/constants.py`.
MOST_LOOKED_AT = 200_000


@dataclass(frozen=True, eq=False)
class Branch:
    """Windows of starts, and prices by size.

    Attributes
    ----------
    times : array of int, shape (K + 1,)
    prices : sequence of row, shape (2 sizes, K)
        Of jobs in time, then late; times `denominator`.
    denominator : int
    earliest, latest : array of int, shape (jobs,)
    cut : tuple of int, optional
        A job, and the tick before which it starts on the first side.
    """

    times: Ints
    prices: Sequence[Sequence[int]]
    denominator: int
    earliest: Ints
    latest: Ints
    cut: tuple[int, int] | None


def none_cheaper(pool: Pool, branches: Sequence[Branch], below: int) -> bool:
    """Return True if branches prove that no schedule costs less than `below`.

    Parameters
    ----------
    pool : Pool
    branches : sequence of Branch
    below : int
        Cost times the weight scale, a multiple of the weights' greatest common divisor.

    Raises
    ------
    ValueError
        If the branches are not the pool's, or take too long to check.
    """
    _refuse_what_does_not_fit(pool, branches)
    # All other jobs at their release, a job that starts later than this costs too much.
    spare = below - whole_sum(pool.weight * (pool.release + pool.duration))
    latest = pool.release + np.maximum(spare, 0) // pool.weight
    open_sides: list[_Side] = [_Side(pool.release, latest, None)]
    for branch in branches:
        if not open_sides or not open_sides.pop().within(branch):
            return False
        priced = _Priced(pool, branch, below)
        if not priced.is_done:
            open_sides += priced.sides()
    return not open_sides


def _refuse_what_does_not_fit(pool: Pool, branches: Sequence[Branch]) -> None:
    n, sizes = len(pool.release), 2 * len(np.unique(pool.gpus))
    if len(branches) * n > MOST_LOOKED_AT or sum(len(b.times) for b in branches) * n > MOST_CELLS:
        raise ValueError(f"branches: {len(branches)} are too many for the pool to check")
    for k, b in enumerate(branches):
        if not len(b.earliest) == len(b.latest) == n:
            raise ValueError(f"branches[{k}]: expected a window for each of the {n} jobs")
        if len(b.prices) != sizes:
            raise ValueError(f"branches[{k}]: {len(b.prices)} rows of prices, expected {sizes}")
        if (b.earliest > b.latest).any():
            raise ValueError(f"branches[{k}]: a window ends before it begins")
        if b.cut is not None and b.cut[0] >= n:
            raise ValueError(f"branches[{k}].cut: no job {b.cut[0]}")


class _Priced:
    """What the starts of a branch cost, and its bound, times the denominator and weight scale."""

    def __init__(self, pool: Pool, branch: Branch, below: int):
        self.pool, self.branch = pool, branch
        grid, lengths = branch.times, np.diff(branch.times).tolist()
        sizes, self.item, counts, room = who_pays(pool, branch.earliest, branch.latest, grid)
        highest = [max(prices) for prices in zip(*branch.prices, strict=True)]
        dearest = sum(n * p for n, p in zip(lengths, highest, strict=True))
        latest = max(int(grid[-1]), int(branch.latest.max())) + int(pool.duration.max())
        most = branch.denominator * latest * int(pool.weight.max())
        most += pool.weight_scale * len(pool.release) * dearest
        self.kind: type = np.int64 if most <= INT64_SAFE else object
        none = [[0] * len(lengths)]
        self.prices: Numbers = np.array([*branch.prices, *none], dtype=self.kind)
        if takes_long(
            pool.total_gpus, np.tile(sizes, 2), counts, 1 if most <= INT64_SAFE else LARGE
        ):
            raise ValueError(f"times: {len(lengths)} intervals are too many for the pool to check")
        self.best: list[int] = []
        self.spare = -1
        if (room < 0).any():
            return
        windows = zip(branch.earliest.tolist(), branch.latest.tolist(), strict=True)
        self.best = [self.least(j, *window) for j, window in enumerate(windows)]
        paid = most_paid(pool.total_gpus, np.tile(sizes, 2), counts, self.prices[:-1], room)
        bound = sum(self.best)
        bound -= pool.weight_scale * sum(n * int(p) for n, p in zip(lengths, paid, strict=True))
        unit = int(np.gcd.reduce(pool.weight))
        self.spare = (below - unit) * branch.denominator - bound

    @property
    def is_done(self) -> bool:
        """Whether no schedule in the windows costs less than what is claimed."""
        return self.spare < 0

    def least(self, job: int, first: int, last: int) -> int:
        """Return the least cost of a job's starts from `first` to `last`."""
        grid, d = self.branch.times, int(self.pool.duration[job])
        mine = self.prices[self.item[job], np.arange(len(grid) - 1)]
        change = grid[np.diff(mine, prepend=0, append=0) != 0]
        starts = np.concatenate([[first, last], change, change - d])
        starts = starts[(first <= starts) & (starts <= last)].astype(self.kind)
        at: Numbers = grid.astype(self.kind)
        paid = cumulated(at, mine, starts + d) - cumulated(at, mine, starts)
        weight = self.branch.denominator * int(self.pool.weight[job])
        return int((weight * (starts + d) + self.pool.weight_scale * paid).min())

    def excludes(self, job: int, first: int, last: int) -> bool:
        """Return True if no schedule that is looked for starts a job from `first` to `last`."""
        return first > last or self.least(job, first, last) - self.best[job] > self.spare

    def sides(self) -> list[_Side]:
        """Return what is to be looked at next, the last one first."""
        earliest, latest = self.branch.earliest, self.branch.latest
        if self.branch.cut is None:
            return [_Side(earliest, latest, self)]
        job, tick = self.branch.cut
        before, after = latest.copy(), earliest.copy()
        before[job], after[job] = min(before[job], tick - 1), max(after[job], tick)
        both = _Side(after, latest, self), _Side(earliest, before, self)
        return [side for side in both if side.earliest[job] <= side.latest[job]]


@dataclass(frozen=True, eq=False)
class _Side:
    """Windows in which schedules are still looked for, and what may exclude starts of them."""

    earliest: Ints
    latest: Ints
    priced: _Priced | None

    def within(self, branch: Branch) -> bool:
        """Return True if a branch holds all starts of the windows that are not excluded."""
        cuts_off = (branch.earliest > self.earliest) | (branch.latest < self.latest)
        jobs = np.flatnonzero(cuts_off).tolist()
        return not jobs or (
            self.priced is not None and all(self._holds(self.priced, branch, j) for j in jobs)
        )

    def _holds(self, priced: _Priced, branch: Branch, job: int) -> bool:
        first, last = int(self.earliest[job]), int(self.latest[job])
        begin, end = int(branch.earliest[job]), int(branch.latest[job])
        return priced.excludes(job, first, min(begin - 1, last)) and priced.excludes(
            job, max(end + 1, first), last
        )
