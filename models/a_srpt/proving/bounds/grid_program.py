r"""The linear program of starts on a grid of times, by column generation.

With :math:`z_{js} \ge 0` for job j and start :math:`s \ge r_j`, and the intervals :math:`I_k =
[\tau_{k-1}, \tau_k)` of a grid,

.. math::
    \min \sum_{j,s} w_j (s + d_j) z_{js} \quad\text{subject to}\quad \sum_s z_{js} = 1, \quad
    \sum_{j,s} g_j |[s, s + d_j) \cap I_k| z_{js} \le G |I_k| \quad \text{for every interval } k.

Its dual is the maximum of the price bound over prices that are constant on the intervals; on the
unit grid the program is (5) of the page. At prices of the capacity the cheapest starts of every job
prove the price bound. Columns are added where starts are cheaper than their job's dual, until the
program meets that bound.
"""

from __future__ import annotations

import math

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.result import Status

from .ascent import FloatPool

#: Part of the bound up to which the program and its prices may differ.
#: Tuned: `benchmarks/constants.py`.
CLOSED = 1e-9
#: Columns added for a job at a time. Tuned: `benchmarks/constants.py`.
MOST_NEW = 4

Start = tuple[int, float]


def best_grid_prices(
    pool: FloatPool, times: Floats, prices: Floats, starts: Floats, clock: Clock
) -> tuple[float, Floats]:
    """Return the value and the prices of the best price bound on a grid, or what time allows.

    Parameters
    ----------
    pool : FloatPool
    times : array of float, shape (K + 1,)
    prices : array of float, shape (K,)
        Good prices to begin with.
    starts : array of float, shape (jobs,)
        Those of a schedule of the pool that ends by the last time.
    clock : Clock
    """
    master = _Master(pool, times)
    best, _ = master.price(prices, np.zeros(len(starts)))
    best_prices = prices
    _, first = master.price(prices, np.full(len(starts), math.inf))
    master.add([*enumerate(starts.tolist()), *first])
    n = len(starts)
    while not clock.expired and master.lp.solve(clock.limits()) is Status.OPTIMAL:
        duals = master.lp.row_duals
        prices = np.maximum(0.0, -duals[n:])
        bound, new = master.price(prices, duals[:n])
        if bound > best:
            best, best_prices = bound, prices
        if not new or master.lp.objective <= best + CLOSED * abs(best):
            break
        master.add(new)
    return best, best_prices


class _Master:
    """The linear program over the starts so far."""

    def __init__(self, pool: FloatPool, times: Floats):
        self.pool, self.times = pool, times
        n, lengths = len(pool.release), np.diff(times)
        self.known: set[Start] = set()
        self.lp = PersistentLp("min")
        self.lp.add_rows([1.0] * n, [1.0] * n, [0] * n, [], [])
        none = [0] * len(lengths)
        self.lp.add_rows([-INFINITY] * len(lengths), pool.total_gpus * lengths, none, [], [])

    def price(self, prices: Floats, duals: Floats) -> tuple[float, list[Start]]:
        """Return the bound of prices, and the starts that are cheaper than their jobs' duals."""
        pool, times = self.pool, self.times
        paid = np.concatenate([[0.0], np.cumsum(prices * np.diff(times))])
        jump = np.diff(prices, prepend=0.0, append=0.0)
        falls, rises = times[jump < 0], times[jump > 0]
        total = -pool.total_gpus * float(paid[-1])
        new: list[Start] = []
        rows = zip(pool.release, pool.duration, pool.gpus, pool.weight, duals, strict=True)
        for j, (r, d, g, w, dual) in enumerate(rows):
            starts = np.unique(np.maximum(np.concatenate([[r], falls, rises - d]), r))
            at_end = np.interp(starts + d, times, paid)
            cost = w * (starts + d) + g * (at_end - np.interp(starts, times, paid))
            total += float(cost.min())
            slack = CLOSED * max(1.0, abs(float(dual))) if math.isfinite(dual) else 0.0
            cheap = np.flatnonzero(cost < dual - slack)
            cheap = cheap[np.argsort(cost[cheap], kind="stable")[:MOST_NEW]]
            new += [(j, s) for s in starts[cheap].tolist() if (j, s) not in self.known]
        return total, new

    def add(self, columns: list[Start]) -> None:
        """Add starts that end by the last time; later ones pay nothing there and are none."""
        pool, times, n = self.pool, self.times, len(self.pool.release)
        cost, begins, rows, values = [], [], [], []
        entries = 0
        for j, s in dict.fromkeys(columns):
            self.known.add((j, s))
            end = s + float(pool.duration[j])
            first = int(np.searchsorted(times, s, side="right")) - 1
            last = min(int(np.searchsorted(times, end, side="left")), len(times) - 1)
            held = np.clip(times[first : last + 1], s, end)
            overlap = float(pool.gpus[j]) * np.diff(held)
            if first < last:
                # The first interval is used from the start on, the last until the end.
                kept = np.flatnonzero(overlap > 0)
                overlap, intervals = overlap[kept], first + kept
            else:
                overlap, intervals = np.empty(0), np.empty(0, dtype=np.int64)
            cost.append(float(pool.weight[j]) * end)
            begins.append(entries)
            rows.append(np.concatenate([[j], n + intervals]))
            values.append(np.concatenate([[1.0], overlap]))
            entries += 1 + len(overlap)
        count = len(cost)
        self.lp.add_columns(
            cost,
            [0.0] * count,
            [INFINITY] * count,
            begins,
            np.concatenate(rows),
            np.concatenate(values),
        )
