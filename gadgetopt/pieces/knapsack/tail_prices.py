"""Prices from linear programs over the last levels of an enumeration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.knapsack.problem import LARGEST_EXACT
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.result import Status

if TYPE_CHECKING:
    from gadgetopt.pieces.knapsack.enumeration import Levels

#: Linear programs solved per call. Tuned: `benchmarks/constants.py`.
SAMPLES = 32
#: Most seconds for each linear program. Tuned: `benchmarks/constants.py`.
LP_S = 1.0


class TailLp:
    """The linear relaxation over the levels from some depth on, for changing capacities.

    Options are counted against the first one of their level, so that a level of two options is one
    variable between 0 and 1.

    Parameters
    ----------
    levels : Levels
        In the order of the enumeration.
    """

    def __init__(self, levels: Levels) -> None:
        self.levels = levels
        rows = len(levels.capacity)
        first = np.array([w[0] for w in levels.weight]).reshape(-1, rows)
        self.base: Floats = np.concatenate(
            [np.cumsum(first[::-1], axis=0)[::-1], np.zeros((1, rows))]
        )
        sizes = np.array([len(p) for p in levels.profit])
        rowed = sizes > 2
        row_of = np.where(rowed, rows + np.cumsum(rowed) - 1, -1)
        groups = int(rowed.sum())
        self.lp: PersistentLp = PersistentLp("max")
        self.lp.add_rows(
            np.full(rows + groups, -INFINITY),
            np.concatenate([levels.capacity, np.ones(groups)]),
            np.zeros(rows + groups),
            [],
            [],
        )
        #: First column of each level, and finally the number of columns.
        self.starts: Ints = np.concatenate([[0], np.cumsum(sizes - 1)])
        for profit, weight, row in zip(levels.profit, levels.weight, row_of, strict=True):
            self._add(profit, weight, int(row))
        self.upper: Floats = np.repeat(np.where(rowed, INFINITY, 1.0), sizes - 1)
        self.depth: int = 0

    def _add(self, profit: Floats, weight: Floats, row: int) -> None:
        new = len(profit) - 1
        if not new:
            return
        entries = weight[1:] - weight[0]
        index = np.broadcast_to(np.arange(entries.shape[1]), entries.shape)
        if row >= 0:
            entries = np.column_stack([entries, np.ones(new)])
            index = np.column_stack([index, np.full(new, row)])
        there = entries != 0
        counts = there.sum(axis=1)
        self.lp.add_columns(
            (profit[1:] - profit[0]) / self.levels.scale,
            np.zeros(new),
            np.full(new, INFINITY if row >= 0 else 1.0),
            np.cumsum(counts) - counts,
            index[there],
            entries[there],
        )

    def duals(self, depth: int, residual: Floats, clock: Clock) -> list[Floats]:
        """Return optimal prices, rounded to whole numbers, of the levels left at some nodes.

        Left out are prices beyond the range of exact sums, and nodes whose program is infeasible.

        Parameters
        ----------
        depth : int
            Levels decided.
        residual : ndarray of float, shape (rows, nodes)
        clock : Clock
        """
        self._begin_at(depth)
        rows = np.arange(len(residual))
        no_lower = np.full(len(rows), -INFINITY)
        found: dict[bytes, Floats] = {}
        nodes = residual.shape[1]
        for node in np.linspace(0, nodes - 1, min(nodes, SAMPLES)).astype(int).tolist():
            self.lp.change_row_bounds(rows, no_lower, residual[:, node] - self.base[depth])
            try:
                status = self.lp.solve(clock.limits(at_most_s=LP_S))
            except SolverError:
                continue
            if self.lp.limit_hit == "interrupted":
                raise KeyboardInterrupt
            if status is Status.OPTIMAL:
                prices = np.rint(np.maximum(self.lp.row_duals[rows], 0.0) * self.levels.scale)
                if prices @ self.levels.reach + self.levels.profit_reach < LARGEST_EXACT / 2:
                    found[prices.tobytes()] = prices
        return list(found.values())

    def _begin_at(self, depth: int) -> None:
        """Close the columns of the levels above a depth, and open those from it on."""
        low, high = sorted((int(self.starts[self.depth]), int(self.starts[depth])))
        changed = np.arange(low, high)
        if len(changed):
            upper = self.upper[changed] if depth < self.depth else np.zeros(len(changed))
            self.lp.change_column_bounds(changed, np.zeros(len(changed)), upper)
        self.depth = depth
