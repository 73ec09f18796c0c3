r"""A gang in whole parts: what a relaxation with fractions of contents forgets, put back.

In fractions a gang of four tasks may lie three at a time, in four thirds of a content. In a
placement its parts :math:`P_{js}` are whole numbers with sum :math:`n_j`, so for every d

.. math::
    \sum_P \lceil P_j / d \rceil z_P \ge \lceil n_j / d \rceil, \qquad
    \sum_P \lfloor P_j / d \rfloor z_P \le \lfloor n_j / d \rfloor.                 \tag{C5}

Their duals make what the tasks of a gang pay in one server a table of prices instead of a multiple
of their number. The worst division of a gang at such prices is found by dynamic programming.
"""

from __future__ import annotations

import math

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.solvers.persistent import INFINITY, PersistentLp

from .content_search import Contents
from .terms import Terms, most_in


class Divisions:
    """The rows (C5) of all gangs.

    Attributes
    ----------
    lower, upper : array, shape (rows,)
    """

    def __init__(self, terms: Terms):
        self._terms = terms
        lots = len(terms.lots)
        #: The most tasks of each lot that a server holds.
        self.most: list[int] = [
            max((most_in(lot, kind) for kind in terms.kinds), default=0) for lot in terms.lots
        ]
        divisors = [
            range(2, min(lot.tasks - 1, most) + 1) if lot.gang else range(0)
            for lot, most in zip(terms.lots, self.most, strict=True)
        ]
        width = 2 * max(map(len, divisors), default=0)
        #: Rows of each lot, and their coefficients by its tasks in a server.
        self._row: Ints = np.zeros((lots, width), dtype=np.int64)
        self._coefficient: Ints = np.zeros((lots, max(self.most, default=0) + 1, width), np.int64)
        lower: list[float] = []
        upper: list[float] = []
        tasks = np.arange(self._coefficient.shape[1])
        for i, of_lot in enumerate(divisors):
            n = terms.lots[i].tasks
            for k, d in enumerate(of_lot):
                self._row[i, [2 * k, 2 * k + 1]] = len(lower), len(lower) + 1
                self._coefficient[i, :, 2 * k] = -(-tasks // d)
                self._coefficient[i, :, 2 * k + 1] = tasks // d
                lower += [float(-(-n // d)), -INFINITY]
                upper += [INFINITY, float(n // d)]
        self.lower: Floats = np.array(lower)
        self.upper: Floats = np.array(upper)

    def __len__(self) -> int:
        return len(self.lower)

    def entries(self, contents: Contents) -> tuple[Ints, Ints, Floats]:
        """Return row, content and coefficient of every entry that is not 0."""
        content, k = np.nonzero(contents.tasks)
        lot, tasks = contents.lot[content, k], contents.tasks[content, k]
        coefficient = self._coefficient[lot, tasks]
        entry, at = np.nonzero(coefficient)
        return self._row[lot[entry], at], content[entry], coefficient[entry, at].astype(float)

    def add_missing(self, lp: PersistentLp, cost: Floats, first: int) -> None:
        """Add a column for every lot, tasks that are in no server: one by one.

        Parameters
        ----------
        lp : PersistentLp
            Its first rows are those of the lots, (C2), and the rows (C5) begin at `first`.
        cost : array, shape (lots,)
        """
        lots = len(cost)
        rows, columns = list(range(lots)), list(range(lots))
        for i in range(lots):
            for k in range(0, self._row.shape[1], 2):
                if self._coefficient[i, :, k].any():
                    rows.append(first + int(self._row[i, k]))
                    columns.append(i)
        order = np.argsort(columns, kind="stable")
        starts = np.searchsorted(np.array(columns)[order], np.arange(lots))
        row = np.array(rows, dtype=np.int64)[order]
        infinite = np.full(lots, INFINITY)
        lp.add_columns(cost, np.zeros(lots), infinite, starts, row, np.ones(len(row)))

    def prices(self, price: Floats, dual: Floats) -> Floats:
        """Return what so many tasks of each lot in a server pay, shape (lots, tasks + 1).

        Parameters
        ----------
        price : array, shape (lots,)
            Of a task.
        dual : array, shape (rows,)
        """
        tasks = np.arange(self._coefficient.shape[1])
        table: Floats = price[:, None] * tasks
        if len(self):
            table = table + np.einsum("ink,ik->in", self._coefficient, dual[self._row])
        return table

    def least(self, table: Floats) -> float:
        """Return the least that all lots pay together, however their tasks are divided."""
        total = 0.0
        for lot, most, row in zip(self._terms.lots, self.most, table.tolist(), strict=True):
            total += (
                least_of_parts(row[1 : most + 1], lot.tasks) if lot.gang else lot.tasks * row[1]
            )
        return total


def least_of_parts(pays: list[float], tasks: int) -> float:
    """Return the least that parts with so many tasks in all pay, infinite if there are none."""
    least = [0.0]
    for n in range(1, tasks + 1):
        ways = [least[n - k] + pays[k - 1] for k in range(1, min(n, len(pays)) + 1)]
        least.append(min(ways, default=math.inf))
    return least[tasks]
