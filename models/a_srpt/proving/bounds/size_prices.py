r"""Prices by size of job: a linear program of starts, and cuts from what may run together (ours).

The program of `grid_program` knows only that the GPUs of a pool are enough. Here every interval
gets rows besides, for the sizes of jobs in time and late there (`certificate.size_prices`):
:math:`\sum_i a_i n_i \le 1` for all whole :math:`n` that may run together. Such a row is found
where the program's own mean of :math:`n` is a mixture of no such :math:`n`: a second, small program
looks for the mixture, and its prices are the row. The rows' duals, times their coefficients, are
the prices of the certificate.

1. Columns: starts that are cheaper than their job's dual under the prices, until there are none.
2. Rows: of every interval that is too full for jobs that are whole. Back to 1 if there are any.

Starts may have windows, as in the branches of `exact.size_branches`: what certain jobs leave is
then the room of an interval, and a job may have no start at all, for a large cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import ASrptInstance
from ...relaxations import Pool, pool_of
from ..certificate.check import Prices, Proof, SizePrices, proved
from .ascent import FloatPool
from .list_schedule import listed
from .outcome import certified, power_of_two, step_proof
from .price import good_prices

#: Most intervals, and jobs times intervals: 200 jobs in 200 of them take three seconds.
#: Tuned: `benchmarks/constants.py`.
MOST_INTERVALS, MOST_ENTRIES = 1500, 500_000
#: Intervals, times GPUs, times the pieces of all sizes: more take the check too long.
#: Tuned: `benchmarks/constants.py`.
MOST_PIECES = 2 * 10**9
#: Part of the bound up to which the program and its prices may differ, and by which a row must be
#: broken to be added. Tuned: `benchmarks/constants.py`.
CLOSED, BROKEN = 1e-9, 1e-6
#: Columns added for a job at a time. Tuned: `benchmarks/constants.py`.
MOST_NEW = 4
#: Ticks that no start costs a job of weight 1 at first, how many times as many if one has none, and
#: at most. Tuned: `benchmarks/constants.py`.
NO_START, DEARER, DEAREST = 1e3, 10.0, 1e7


@method(kind="relaxation", reference="ours", formulation="size_prices")
def size_price_bound(instance: ASrptInstance, limits: Limits) -> MethodOutcome:
    """Prices of jobs by size: sees that jobs are whole, and which may run together.

    They change at the moments of a list schedule in the order of B5's prices; where these are too
    many, or time is short, the bound is B5.
    """
    clock, pool = Clock(limits), pool_of(instance)
    times, prices, _ = good_prices(pool, 256, 40, 5000, 2000, clock)
    _, _, cheapest = FloatPool.of(pool).evaluate(times, prices[None])
    proofs: list[Proof] = [step_proof(Prices, pool, times, prices)]
    with clock.phase("prices by size"):
        by_size = prices_by_size(pool, cheapest, clock)
    if by_size is not None:
        proofs.append(by_size)
    return certified(max(proofs, key=lambda proof: proved(instance, proof)), clock)


def prices_by_size(pool: Pool, order_by: Floats, clock: Clock) -> SizePrices | None:
    """Return good prices by size that change at the moments of a list schedule.

    None if there are too many moments, also for the check, or time is up before there are any
    prices.

    Parameters
    ----------
    pool : Pool
    order_by : array, shape (jobs,)
        By which the jobs are listed, such as the starts of a good schedule on the servers.
    clock : Clock
    """
    starts = listed(pool, order_by)
    ends = starts + pool.duration, pool.release + pool.duration
    times = np.unique(np.concatenate([pool.release, starts, *ends])).astype(np.int64)
    if len(times) > MOST_INTERVALS or len(times) * len(starts) > MOST_ENTRIES:
        return None
    program = SizeProgram(pool, times)
    if program.is_too_large:
        return None
    program.add_columns([(j, int(s)) for j, s in enumerate(starts.tolist())])
    _, prices = program.solve(clock)
    return None if prices is None else size_proof(pool, times, prices, pool.release)


def size_proof(pool: Pool, times: Ints, prices: Floats, latest: Ints) -> SizePrices:
    """Return prices as a certificate, also for jobs that start as late as `latest`."""
    lengths = np.diff(times)
    dearest = float(prices.max(axis=0) @ lengths)
    last = float(max(times[-1], latest.max()))
    # No sum of the check has more than this many prices.
    denominator = power_of_two(pool, last, dearest * len(pool.release))
    whole = np.round(prices * denominator).astype(np.int64).tolist()
    rows, half = tuple(tuple(row) for row in whole), len(whole) // 2
    return SizePrices(
        times=tuple(times.tolist()), denominator=denominator, in_time=rows[:half], late=rows[half:]
    )


@dataclass(frozen=True)
class _Row:
    """In an interval, `worth` of all that pays there is at most `most`."""

    interval: int
    worth: Floats
    most: float


class SizeProgram:
    """Starts of jobs, and rows of intervals; *items* are sizes in time, then late, then none.

    Parameters
    ----------
    pool : Pool
        With the earliest starts as releases.
    times : array of int, shape (K + 1,)
    latest : array of int, shape (jobs,), optional
        Last starts, if there are any; a job may then have no start, at a large cost.
    known : dict, optional
        Items that may run together, as earlier programs of the same sizes found them.
    """

    def __init__(
        self,
        pool: Pool,
        times: Ints,
        latest: Ints | None = None,
        known: dict[tuple[int, ...], None] | None = None,
    ):
        self.known = {} if known is None else known
        self.pool, self.times, self.lengths = pool, times, np.diff(times).astype(np.float64)
        never = np.full(len(pool.release), np.iinfo(np.int64).max // 2)
        self.latest: Ints = never if latest is None else latest
        sizes = sorted(set(pool.gpus.tolist()))
        self.sizes: Ints = np.array(sizes * 2, dtype=np.int64)
        none = len(self.sizes)
        #: The item that a job is in every interval, how many may be each, and what others leave.
        self.item: Ints = np.full((len(pool.release), len(times) - 1), none, dtype=np.int64)
        self.counts: Ints = np.zeros((none + 1, len(times) - 1), dtype=np.int64)
        self.room: Ints = np.full(len(times) - 1, pool.total_gpus)
        rows = zip(*(x.tolist() for x in (pool.release, self.latest, pool.duration)), strict=True)
        for j, (r, last, d) in enumerate(rows):
            of_size, every = sizes.index(int(pool.gpus[j])), np.arange(len(times) - 1)
            begun, over = np.searchsorted(times, r, "right") - 1, np.searchsorted(times, last + d)
            self.item[j, max(0, begun) : over] = of_size + len(sizes)
            end = max(0, np.searchsorted(times, r + d, "right") - 1)
            self.item[j, np.searchsorted(times, r) : end] = of_size
            certain = slice(np.searchsorted(times, last), end)
            self.item[j, certain] = none
            self.room[certain] -= pool.gpus[j]
            self.counts[self.item[j], every] += 1
        self.counts = self.counts[:none]
        self.weight: Floats = pool.weight / pool.weight_scale
        self.columns: dict[tuple[int, int], None] = {}
        self.lp = PersistentLp("min")
        n, ones = len(pool.release), np.ones(len(pool.release))
        self.lp.add_rows(ones, ones, [0] * n, [], [])
        #: Columns of jobs that have no start.
        self.none = 0 if latest is None else n
        self._dear = NO_START
        if self.none:
            every = np.arange(n)
            self.lp.add_columns(self._no_start(), 0 * ones, ones, every, every, ones)
        self.rows: list[_Row] = []
        full = np.flatnonzero(self.sizes @ self.counts > self.room).tolist()
        every_size = self.sizes.astype(np.float64)
        self._add([_Row(k, every_size, float(self.room[k])) for k in full])
        self._candidates()

    def _no_start(self) -> Floats:
        """Return what no start costs each job."""
        return self.weight * (self.pool.release + self.pool.duration + self._dear)

    def _candidates(self) -> None:
        """Number the starts at which costs may have corners, shape (jobs, starts), and the ends."""
        first, d = self.pool.release[:, None], self.pool.duration[:, None]
        last = np.maximum(first, self.latest[:, None] if self.none else self.times[-1])
        every = np.broadcast_to(self.times, (len(d), len(self.times)))
        starts = np.clip(np.concatenate([first, last, every, every - d], axis=1), first, last)
        self.starts: Ints = np.sort(starts, axis=1)
        self._where = [
            (k := np.searchsorted(self.times, at, "right") - 1, at - self.times[k])
            for at in (self.starts, self.starts + d)
        ]

    @property
    def is_too_large(self) -> bool:
        """Whether a check of prices by size would refuse to look at what may run together."""
        gpus = min(self.pool.total_gpus, int(self.pool.gpus.sum())) + 1
        pieces = sum(most.bit_length() for most in self.counts.max(axis=1).tolist())
        return gpus > MOST_CELLS or len(self.lengths) * gpus * pieces > MOST_PIECES

    def solve(self, clock: Clock, enough: float = INFINITY) -> tuple[float, Floats | None]:
        """Return the best bound until time is up, or it is above `enough`, and its prices."""
        best, prices = -INFINITY, None
        while not clock.expired and self.lp.solve(clock.limits()) is Status.OPTIMAL:
            tables = self.prices()
            bound, new = self.price(tables)
            if bound > best:
                best, prices = bound, tables
            if best > enough:
                break
            if new and self.lp.objective > bound + CLOSED * abs(bound):
                self.add_columns(new)
            elif not self.add_rows(clock) and not self._make_dearer():
                break
        return best, prices

    def _make_dearer(self) -> bool:
        """Let no start cost more if a job has none; return True if it did not cost too much yet."""
        if self._dear >= DEAREST or self.lp.values[: self.none].sum() <= BROKEN:
            return False
        self._dear *= DEARER
        self.lp.change_costs(np.arange(self.none), self._no_start())
        return True

    def prices(self) -> Floats:
        """Return the prices of all items in all intervals by the duals of the rows."""
        tables = np.zeros((len(self.sizes), len(self.lengths)))
        duals = np.maximum(0.0, -self.lp.row_duals[len(self.pool.release) :])
        for row, dual in zip(self.rows, duals.tolist(), strict=True):
            tables[:, row.interval] += dual * row.worth
        return tables

    def costs(self, tables: Floats) -> Floats:
        """Return what the starts that may be corners cost under prices, shape (jobs, starts)."""
        every = np.arange(len(self.lengths))
        mine = np.append(tables, np.zeros((1, len(every))), axis=0)[self.item, every]
        paid = np.cumsum(mine * self.lengths, axis=1)
        paid, mine = np.pad(paid, ((0, 0), (1, 0))), np.pad(mine, ((0, 0), (0, 1)))
        job = np.arange(len(paid))[:, None]
        begun, ended = (paid[job, k] + mine[job, k] * over for k, over in self._where)
        completion = self.starts + self.pool.duration[:, None]
        costs: Floats = self.weight[:, None] * completion + ended - begun
        return costs

    def price(self, tables: Floats) -> tuple[float, list[tuple[int, int]]]:
        """Return about the bound of prices, and starts that are cheaper than their jobs' duals."""
        duals, n = self.lp.row_duals, len(self.pool.release)
        most = np.array([row.most * self.lengths[row.interval] for row in self.rows])
        costs = self.costs(tables)
        total = float(costs.min(axis=1).sum()) - float(np.maximum(0.0, -duals[n:]) @ most)
        below = duals[:n] - CLOSED * np.maximum(1.0, np.abs(duals[:n]))
        new: list[tuple[int, int]] = []
        for j in np.flatnonzero(costs.min(axis=1) < below).tolist():
            starts, at = np.unique(self.starts[j], return_index=True)
            cost = costs[j, at]
            cheap = np.flatnonzero(cost < below[j])
            cheap = cheap[np.argsort(cost[cheap], kind="stable")[:MOST_NEW]]
            new += [(j, s) for s in starts[cheap].tolist() if (j, s) not in self.columns]
        return total, new

    def add_columns(self, starts: list[tuple[int, int]]) -> None:
        """Add starts of jobs."""
        where = np.array([row.interval for row in self.rows], dtype=np.int64)
        worth = self._worths(self.rows)
        n, every = len(self.pool.release), np.arange(len(self.rows))
        cost, begins, rows, values = [], [], [], []
        entries = 0
        for j, s in starts:
            self.columns[j, s] = None
            used = worth[every, self.item[j, where]] * self._held(j, s)[where]
            at = np.flatnonzero(used)
            cost.append(float(self.weight[j]) * (s + int(self.pool.duration[j])))
            begins.append(entries)
            rows.append(np.append(j, n + at))
            values.append(np.append(1.0, used[at]))
            entries += 1 + len(at)
        entered = begins, np.concatenate(rows), np.concatenate(values)
        self.lp.add_columns(cost, np.zeros(len(cost)), np.full(len(cost), INFINITY), *entered)

    def used(self) -> list[tuple[int, int, float]]:
        """Return jobs, starts, and the program's values that are not 0."""
        values = zip(self.columns, self.lp.values[self.none :].tolist(), strict=True)
        return [(j, s, value) for (j, s), value in values if value > 0.0]

    def add_rows(self, clock: Clock) -> bool:
        """Add rows that the program's values break; return True if there are any."""
        mean = np.zeros((len(self.sizes) + 1, len(self.lengths)))
        every = np.arange(len(self.lengths))
        for j, s, value in self.used():
            mean[self.item[j], every] += value * self._held(j, s) / self.lengths
        mean = mean[:-1]
        # What is mixed of numbers rounded up that fit together breaks no row.
        full = self.sizes @ np.ceil(mean - BROKEN) > self.room
        new = []
        for k in np.flatnonzero(full).tolist():
            if clock.expired:
                break
            row = self._row(k, mean[:, k], clock)
            if row is not None:
                new.append(row)
        self._add(new)
        return bool(new)

    def _row(self, k: int, mean: Floats, clock: Clock) -> _Row | None:
        """Return a row that an interval's mean breaks, None if there is none or time is up."""
        too_large = (self.sizes > self.room[k]) & (mean > BROKEN)
        if too_large.any():
            return _Row(k, too_large.astype(np.float64), 0.0)
        worth = self._broken(mean, self.counts[:, k], int(self.room[k]), clock)
        return None if worth is None else _Row(k, worth, 1.0)

    def _worths(self, rows: list[_Row]) -> Floats:
        """Return what the items are worth in rows, the last one nothing."""
        worth = np.array([row.worth for row in rows]).reshape(-1, len(self.sizes))
        return np.pad(worth, ((0, 0), (0, 1)))

    def _add(self, new: list[_Row]) -> None:
        begins, columns, values = [], [], []
        entries = 0
        jobs, starts = np.array([*self.columns], dtype=np.int64).reshape(-1, 2).T
        for row, worth in zip(new, self._worths(new), strict=True):
            begin, end = self.times[row.interval], self.times[row.interval + 1]
            held = np.minimum(end, starts + self.pool.duration[jobs]) - np.maximum(begin, starts)
            used = worth[self.item[jobs, row.interval]] * np.maximum(held, 0)
            at = np.flatnonzero(used)
            begins.append(entries)
            columns.append(self.none + at)
            values.append(used[at])
            entries += len(at)
        if new:
            most = [row.most * self.lengths[row.interval] for row in new]
            none = np.full(len(new), -INFINITY)
            self.lp.add_rows(none, most, begins, np.concatenate(columns), np.concatenate(values))
            self.rows += new

    def _held(self, j: int, s: int) -> Floats:
        """Return the ticks of every interval that a job holds its GPUs."""
        held: Floats = np.diff(np.clip(self.times, s, s + self.pool.duration[j])).astype(float)
        return held

    def _broken(self, mean: Floats, counts: Ints, room: int, clock: Clock) -> Floats | None:
        """Return a row that a mean of what runs breaks, None if it is a mixture or time is up.

        Prices are sought that make the mean worth most, while nothing that may run together is
        worth more than 1; of that, what the prices make worth most comes into the program.
        """
        items = np.flatnonzero(mean > BROKEN)
        lp = PersistentLp("max")
        lp.add_columns(mean[items], np.zeros(len(items)), np.full(len(items), INFINITY))
        together = np.eye(len(items), dtype=np.int64)
        if self.known:
            sets = np.array([*self.known])
            fit = (sets <= counts).all(axis=1) & (sets @ self.sizes <= room)
            together = np.concatenate([together, np.unique(sets[fit][:, items], axis=0)])
            together = together[together.any(axis=1)]
        while True:
            entries = [np.flatnonzero(row) for row in together]
            begins = np.cumsum([0, *map(len, entries[:-1])])
            values = np.concatenate([row[at] for row, at in zip(together, entries, strict=True)])
            none, one = np.full(len(together), -INFINITY), np.ones(len(together))
            lp.add_rows(none, one, begins, np.concatenate(entries), values.astype(float))
            if lp.solve(clock.limits()) is not Status.OPTIMAL or lp.objective <= 1.0 + BROKEN:
                return None
            worth = np.where(lp.values > CLOSED, lp.values, 0.0)
            most, chosen = _worth_most(room, self.sizes[items], counts[items], worth)
            if most <= 1.0 + BROKEN / 10:
                row = np.zeros(len(mean))
                row[items] = worth / max(1.0, most)
                return row
            together = chosen[None]
            of_all = np.zeros(len(mean), dtype=np.int64)
            of_all[items] = chosen
            self.known[tuple(of_all.tolist())] = None


def _worth_most(gpus: int, sizes: Ints, counts: Ints, worth: Floats) -> tuple[float, Ints]:
    """Return what is worth most of all that fits, and how many of each item: a bounded knapsack."""
    best = np.zeros(gpus + 1)
    pieces: list[tuple[int, int, np.ndarray]] = []
    for q, (size, count) in enumerate(zip(sizes.tolist(), counts.tolist(), strict=True)):
        left, piece = min(count, gpus // size), 1
        while left > 0:
            number = min(piece, left)
            shift = number * size
            other = best.copy()
            if shift <= gpus:
                paid = best[: gpus + 1 - shift] + number * worth[q]
                other[shift:] = np.maximum(best[shift:], paid)
            pieces.append((q, number, other > best))
            best, left, piece = other, left - number, 2 * piece
    chosen, room = np.zeros(len(sizes), dtype=np.int64), gpus
    for q, number, taken in reversed(pieces):
        if taken[room]:
            chosen[q] += number
            room -= number * int(sizes[q])
    return float(best[-1]), chosen
