"""What the leaves of a tree would prove, in doubles: it tells how many binary digits they need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from gadgetopt.numbers.arrays import Floats

if TYPE_CHECKING:
    from gadgetopt.proofs.leaves import Dual
    from gadgetopt.proofs.model import Form
    from gadgetopt.proofs.tree_kernel import Row

#: Part of the numbers added up that may be noise of doubles; a reduced cost below the second part
#: of the largest cost or entry that it is made of counts as zero where its column has no bound.
#: Tuned: `benchmarks/constants.py`.
NOISE, NO_COST = 1e-13, 1e-12


class Estimates:
    """Estimates of what leaves prove on a form, for some numbers of binary digits at once.

    Parameters
    ----------
    form : Form
    columns : int
    rows : sequence of Row
        Rows of the model and of lemmas. More may be added to it later.
    digits : sequence of int
    """

    def __init__(self, form: Form, columns: int, rows: Sequence[Row], digits: Sequence[int]):
        self.rows = rows
        self.scale: Floats = np.ldexp(1.0, np.array(digits))
        self.costs: Floats = np.zeros(columns)
        self.costs[form[0]] = [float(a) for a in form[1]]
        self._count = -1
        self._read()

    def _read(self) -> None:
        """Read the rows, anew if there are more."""
        self._count, rows = len(self.rows), self.rows
        starts = np.cumsum([0, *(len(row[0]) for row in rows)])
        entries = np.array([a / row[4] for row in rows for a in row[1]], dtype=float)
        columns = np.array([j for row in rows for j in row[0]], dtype=np.int64)
        shape = (len(rows), len(self.costs))
        self._transposed = csr_array(csr_array((entries, columns, starts), shape=shape).T)
        self._low: Floats = np.array([_end(row[2], row[4], -np.inf) for row in rows])
        self._high: Floats = np.array([_end(row[3], row[4], np.inf) for row in rows])

    def proved(
        self,
        low: Floats,
        high: Floats,
        rows: Sequence[Dual],
        splits: Sequence[tuple[Row, float]],
        q: int = 1,
        whole: np.ufunc = np.rint,
    ) -> Floats:
        """Return by number of digits the most that duals seem to prove; what is lost is noise.

        Parameters
        ----------
        low, high : ndarray of float, shape (columns,)
            Bounds of the columns at a node.
        rows : sequence of (int, float)
            Duals of rows.
        splits : sequence of (Row, float)
            Rows of splits, each with its dual.
        q : int
            1 for a bound on the form, 0 for infeasibility.
        whole : ufunc
            What makes integers of duals times a power of two.
        """
        if len(self.rows) > self._count:
            self._read()
        used = np.array([i for i, _ in rows], dtype=np.int64)
        duals: Floats = np.zeros((self._count, len(self.scale)))
        of_used = whole(np.array([y for _, y in rows])[:, None] * self.scale) / self.scale
        sides = np.where(of_used > 0, self._low[used, None], self._high[used, None])
        missing = ~np.isfinite(sides)
        sides[missing] = of_used[missing] = 0.0
        duals[used], parts = of_used, of_used * sides
        total, size = parts.sum(axis=0), np.abs(parts).sum(axis=0)
        reduced = q * self.costs[:, None] - self._transposed @ duals
        for (columns, coefficients, below, above, unit), y in splits:
            dual = whole(y * self.scale) / self.scale
            side = below if y > 0 else above
            if side is None:
                continue
            reduced[columns] -= np.outer(np.array(coefficients, dtype=float) / unit, dual)
            total += dual * (side / unit)
            size += np.abs(dual * (side / unit))
        at = np.where(reduced > 0, low[:, None], high[:, None])
        endless = ~np.isfinite(at)
        largest = max(1.0, float(np.abs(self.costs).max(initial=0.0)))
        lost = (endless & (np.abs(reduced) > NO_COST * largest)).any(axis=0)
        at[endless] = 0.0
        reduced *= at
        total += reduced.sum(axis=0)
        size += np.abs(reduced).sum(axis=0)
        proved: Floats = total + NOISE * size
        proved[lost] = -np.inf
        return proved


def _end(side: int | None, unit: int, missing: float) -> float:
    return missing if side is None else side / unit
