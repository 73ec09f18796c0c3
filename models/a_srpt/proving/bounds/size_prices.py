r"""Prices by size of job: a linear program of starts, and cuts from what may run together (ours).

The program of `grid_program` knows only that the GPUs of a pool are enough. Here every interval
gets rows besides, for the sizes of jobs in time and late there (`certificate.size_prices`):
:math:`\sum_i a_i n_i \le 1` for all whole :math:`n` that may run together. Such a row is found
where the program's own mean of :math:`n` is a mixture of no such :math:`n`: a second, small program
looks for the mixture, and its prices are the row. The rows' duals, times their coefficients, are
the prices of the certificate.

1. Columns: starts that are cheaper than their job's dual under the prices, until there are none.
2. Rows: of every interval that is too full for jobs that are whole. Back to 1 if there are any.
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
    program = _Program(pool, times)
    if program.is_too_large:
        return None
    program.add_columns([(j, int(s)) for j, s in enumerate(starts.tolist())])
    best, prices = -INFINITY, None
    while not clock.expired and program.lp.solve(clock.limits()) is Status.OPTIMAL:
        tables = program.prices()
        bound, new = program.price(tables)
        if bound > best:
            best, prices = bound, tables
        if new and program.lp.objective > bound + CLOSED * abs(bound):
            program.add_columns(new)
        elif not program.add_rows(clock):
            break
    return None if prices is None else _proof(pool, times, prices)


def _proof(pool: Pool, times: Ints, prices: Floats) -> SizePrices:
    lengths = np.diff(times)
    dearest = float(prices.max(axis=0) @ lengths)
    # No sum of the check has more than this many prices.
    denominator = power_of_two(pool, float(times[-1]), dearest * len(pool.release))
    whole = np.round(prices * denominator).astype(np.int64).tolist()
    rows, half = tuple(tuple(row) for row in whole), len(whole) // 2
    return SizePrices(
        times=tuple(times.tolist()), denominator=denominator, in_time=rows[:half], late=rows[half:]
    )


@dataclass(frozen=True)
class _Row:
    """In an interval, `worth` of all that runs there is at most 1; a coefficient for each item."""

    interval: int
    worth: Floats


class _Program:
    """Starts of jobs, and rows of intervals; *items* are sizes in time, then sizes late."""

    def __init__(self, pool: Pool, times: Ints):
        self.pool, self.times, self.lengths = pool, times, np.diff(times).astype(np.float64)
        sizes = sorted(set(pool.gpus.tolist()))
        self.sizes: Ints = np.array(sizes * 2, dtype=np.int64)
        #: The item that a job is in every interval, and how many may be each.
        self.item: Ints = np.zeros((len(pool.release), len(times) - 1), dtype=np.int64)
        self.counts: Ints = np.zeros((len(self.sizes), len(times) - 1), dtype=np.int64)
        rows = zip(pool.release.tolist(), pool.duration.tolist(), pool.gpus.tolist(), strict=True)
        for j, (r, d, g) in enumerate(rows):
            first, last = np.searchsorted(times, r), np.searchsorted(times, r + d, "right") - 1
            self.item[j] = sizes.index(g) + len(sizes)
            self.item[j, first:last] = sizes.index(g)
            begun = np.searchsorted(times, r, "right") - 1
            self.counts[self.item[j, begun:], np.arange(begun, len(times) - 1)] += 1
        self.weight: Floats = pool.weight / pool.weight_scale
        self.columns: dict[tuple[int, int], None] = {}
        self.lp = PersistentLp("min")
        n, ones = len(pool.release), np.ones(len(pool.release))
        self.lp.add_rows(ones, ones, [0] * n, [], [])
        self.rows: list[_Row] = []
        self._add([_Row(k, self.sizes / pool.total_gpus) for k in range(len(self.lengths))])

    @property
    def is_too_large(self) -> bool:
        """Whether a check of prices by size would refuse to look at what may run together."""
        gpus = min(self.pool.total_gpus, int(self.pool.gpus.sum())) + 1
        pieces = sum(most.bit_length() for most in self.counts.max(axis=1).tolist())
        return gpus > MOST_CELLS or len(self.lengths) * gpus * pieces > MOST_PIECES

    def prices(self) -> Floats:
        """Return the prices of all items in all intervals by the duals of the rows."""
        tables = np.zeros((len(self.sizes), len(self.lengths)))
        duals = np.maximum(0.0, -self.lp.row_duals[len(self.pool.release) :])
        for row, dual in zip(self.rows, duals.tolist(), strict=True):
            tables[:, row.interval] += dual * row.worth
        return tables

    def price(self, tables: Floats) -> tuple[float, list[tuple[int, int]]]:
        """Return about the bound of prices, and starts that are cheaper than their jobs' duals."""
        duals, n = self.lp.row_duals, len(self.pool.release)
        total = -float(np.maximum(0.0, -duals[n:]) @ self.lengths[[r.interval for r in self.rows]])
        changes = self.times[np.diff(tables, axis=1, prepend=0.0, append=0.0).any(axis=0)]
        new: list[tuple[int, int]] = []
        rows = zip(self.pool.release, self.pool.duration, self.weight, duals[:n], strict=True)
        for j, (r, d, w, dual) in enumerate(rows):
            mine = tables[self.item[j], np.arange(len(self.lengths))]
            paid = np.concatenate([[0.0], np.cumsum(mine * self.lengths)])
            starts = np.unique(np.concatenate([[r, r + d], changes, changes - d]))
            starts = starts[starts >= r]
            cost = w * (starts + d) + np.interp(starts + d, self.times, paid)
            cost -= np.interp(starts, self.times, paid)
            total += float(cost.min())
            cheap = np.flatnonzero(cost < dual - CLOSED * max(1.0, abs(float(dual))))
            cheap = cheap[np.argsort(cost[cheap], kind="stable")[:MOST_NEW]]
            new += [(j, s) for s in starts[cheap].tolist() if (j, s) not in self.columns]
        return total, new

    def add_columns(self, starts: list[tuple[int, int]]) -> None:
        """Add starts of jobs."""
        where = np.array([row.interval for row in self.rows])
        worth = np.array([row.worth for row in self.rows])
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
        zeros, free = np.zeros(len(cost)), np.full(len(cost), INFINITY)
        entered = np.concatenate(rows), np.concatenate(values)
        self.lp.add_columns(cost, zeros, free, begins, *entered)

    def add_rows(self, clock: Clock) -> bool:
        """Add rows that the program's values break; return True if there are any."""
        values, mean = self.lp.values, np.zeros((len(self.sizes), len(self.lengths)))
        every = np.arange(len(self.lengths))
        for (j, s), value in zip(self.columns, values.tolist(), strict=True):
            if value > 0.0:
                mean[self.item[j], every] += value * self._held(j, s) / self.lengths
        # What is mixed of numbers rounded up that fit together breaks no row.
        full = self.sizes @ np.ceil(mean - BROKEN) > self.pool.total_gpus
        new = []
        for k in np.flatnonzero(full).tolist():
            if clock.expired:
                break
            worth = self._broken(mean[:, k], self.counts[:, k], clock)
            if worth is not None:
                new.append(_Row(k, worth))
        self._add(new)
        return bool(new)

    def _add(self, new: list[_Row]) -> None:
        begins, columns, values = [], [], []
        entries = 0
        jobs, starts = np.array([*self.columns], dtype=np.int64).reshape(-1, 2).T
        for row in new:
            begin, end = self.times[row.interval], self.times[row.interval + 1]
            held = np.minimum(end, starts + self.pool.duration[jobs]) - np.maximum(begin, starts)
            used = row.worth[self.item[jobs, row.interval]] * np.maximum(held, 0)
            at = np.flatnonzero(used)
            begins.append(entries)
            columns.append(at)
            values.append(used[at])
            entries += len(at)
        if new:
            most = self.lengths[[row.interval for row in new]]
            none = np.full(len(new), -INFINITY)
            self.lp.add_rows(none, most, begins, np.concatenate(columns), np.concatenate(values))
            self.rows += new

    def _held(self, j: int, s: int) -> Floats:
        """Return the ticks of every interval that a job holds its GPUs."""
        held: Floats = np.diff(np.clip(self.times, s, s + self.pool.duration[j])).astype(float)
        return held

    def _broken(self, mean: Floats, counts: Ints, clock: Clock) -> Floats | None:
        """Return a row that a mean of what runs breaks, None if it is a mixture or time is up.

        Prices are sought that make the mean worth most, while nothing that may run together is
        worth more than 1; of that, what the prices make worth most comes into the program.
        """
        items = np.flatnonzero(mean > BROKEN)
        lp = PersistentLp("max")
        lp.add_columns(mean[items], np.zeros(len(items)), np.full(len(items), INFINITY))
        together = np.eye(len(items), dtype=np.int64)
        while True:
            entries = [np.flatnonzero(row) for row in together]
            begins = np.cumsum([0, *map(len, entries[:-1])])
            values = np.concatenate([row[at] for row, at in zip(together, entries, strict=True)])
            none, one = np.full(len(together), -INFINITY), np.ones(len(together))
            lp.add_rows(none, one, begins, np.concatenate(entries), values.astype(float))
            if lp.solve(clock.limits()) is not Status.OPTIMAL or lp.objective <= 1.0 + BROKEN:
                return None
            worth = np.maximum(0.0, lp.values)
            most, chosen = _worth_most(
                self.pool.total_gpus, self.sizes[items], counts[items], worth
            )
            if most <= 1.0 + BROKEN / 10:
                row = np.zeros(len(mean))
                row[items] = worth / max(1.0, most)
                return row
            together = chosen[None]


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
