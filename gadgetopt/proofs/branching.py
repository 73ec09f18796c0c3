"""What a tree proof splits on: packing rows first, then columns by pseudo-costs; its splits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from gadgetopt.numbers.arrays import Floats
from gadgetopt.proofs.relaxation import Relaxation

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Model
    from gadgetopt.proofs.tree_kernel import Box

#: A packing row is split on where its sum is at least this far from 0 and 1.
#: Tuned: `benchmarks/constants.py`.
FRACTIONAL_SUM = 0.02
#: A column counts as fractional at this distance from an integer. Tuned: `benchmarks/constants.py`.
FRACTIONAL = 1e-6
#: Columns whose sides are tried in the relaxation, at most; iterations for each side; how often a
#: side is tried before its pseudo-cost is relied upon. Tuned: `benchmarks/constants.py`.
CANDIDATES, ITERATIONS, RELIABLE = 8, 100, 4
#: Gain that stands for a side that closes, and the least gain. By definition.
CLOSED, LEAST = 1e6, 1e-6


@dataclass
class Node:
    """A split on the path, and the duals of the node that was split, None if it has none.

    Attributes
    ----------
    closing : str
        The leaf of the side that propagation closes; empty for other splits.
    closes_left : bool
    at, closed_at : int
        Places of the split and of the closing leaf among the lines.
    is_used : bool
        Whether a leaf rests on the bound of the other side.
    """

    words: list[str]
    duals: Floats | None
    left: bool = True
    closing: str = ""
    closes_left: bool = False
    at: int = 0
    closed_at: int = 0
    is_used: bool = False

    @property
    def closes_here(self) -> bool:
        """Whether the search is on the side that propagation closes."""
        return bool(self.closing) and self.left == self.closes_left


class Branching:
    """Chooses the split of a node from its relaxation's optimum, and learns from what it tries."""

    def __init__(self, model: Model):
        whole = np.array(model.integer, dtype=bool)
        self.integers = np.flatnonzero(whole)
        n = len(model.integer)
        # By side, down and up: sums of gains per unit, and how many there are.
        self.gains: Floats = np.zeros((2, n))
        self.counts: Floats = np.zeros((2, n))
        self.packing = [
            i
            for i, (columns, coefficients, _, high, unit) in enumerate(model.rows)
            if len(columns) >= 3
            and high == unit
            and all(a == unit for a in coefficients)
            and all(model.integer[j] and model.lower[j] == 0 for j in columns)
        ]
        rows = [model.rows[i].columns for i in self.packing]
        starts = np.cumsum([0, *map(len, rows)])
        entries = np.array([j for row in rows for j in row], dtype=np.int64)
        self._sums = csr_array((np.ones(len(entries)), entries, starts), shape=(len(rows), n))

    def is_integral(self, x: Floats) -> bool:
        """Return True if the integer columns of a point are integers."""
        whole = x[self.integers]
        return bool((np.abs(whole - np.rint(whole)) <= FRACTIONAL).all())

    def split(
        self, box: Box, lp: Relaxation, x: Floats, objective: float, target: float
    ) -> str | None:
        """Return the split of a node; None if all integer columns are integers."""
        if self.packing:
            sums = self._sums @ x
            middle = np.minimum(sums, 1 - sums)
            k = int(np.argmax(middle))
            if middle[k] > FRACTIONAL_SUM:
                return f"g {self.packing[k]} 0"
        j = self._column(box, lp, x, objective, target)
        return None if j is None else f"b {j} {math.floor(x[j])}"

    def _column(
        self, box: Box, lp: Relaxation, x: Floats, objective: float, target: float
    ) -> int | None:
        near = np.abs(x[self.integers] - np.round(x[self.integers]))
        found = self.integers[near > FRACTIONAL]
        if not len(found):
            return None
        share = x[found] - np.floor(x[found])
        parts = np.stack([share, 1 - share])
        scores = np.prod(np.maximum(self._mean(found) * parts, LEAST), axis=0)
        best, most = int(found[0]), -1.0
        for tried, k in enumerate(np.argsort(-scores, kind="stable")[: CANDIDATES + 6]):
            j, score = int(found[k]), float(scores[k])
            if self.counts[:, j].min() < RELIABLE:
                if tried >= CANDIDATES:
                    break
                gains = [self._tried(box, lp, x, objective, target, j, side) for side in (0, 1)]
                if max(gains) >= CLOSED:
                    return j
                score = max(gains[0], LEAST) * max(gains[1], LEAST)
            if score > most:
                best, most = j, score
        return best

    def _mean(self, columns: np.ndarray) -> Floats:
        """Return the gains per unit of both sides; for untried ones the mean of the others."""
        sums, counts = self.gains[:, columns], self.counts[:, columns]
        known = np.where(counts > 0, sums / np.maximum(counts, 1), 0.0)
        mean = [row[row > 0].mean() if (row > 0).any() else 1.0 for row in known]
        return np.where(counts > 0, known, np.array(mean)[:, None])

    def _tried(
        self,
        box: Box,
        lp: Relaxation,
        x: Floats,
        objective: float,
        target: float,
        j: int,
        side: int,
    ) -> float:
        """Return the gain of a side of a split, CLOSED if it seems to close; learn from it."""
        kept = ends(box, j)
        down = math.floor(x[j])
        tried = (kept[0], float(down)) if side == 0 else (float(down + 1), kept[1])
        infeasible, reached = lp.hint(j, tried, kept, ITERATIONS)
        if infeasible or reached >= target:
            return CLOSED
        gain = max(reached - objective, 0.0)
        self.gains[side, j] += gain / max(x[j] - down if side == 0 else down + 1 - x[j], LEAST)
        self.counts[side, j] += 1
        return gain


def ends(box: Box, j: int) -> tuple[float, float]:
    """Return the bounds of a column at a node, in doubles."""
    low, high = box.lower[j], box.upper[j]
    return -math.inf if low is None else float(low), math.inf if high is None else float(high)
