"""Mixed-integer rounding cuts of sums of rows; see `rounding` for what is done to a sum.

Rows are added up until few continuous columns are away from their bounds. Cuts that hold the point
are rows, too: their cuts reach across periods of lot sizing, which no few rows of the model do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gadgetopt.proofs.lemmas.rounding import (
    DEEP,
    NEAR,
    NOISE,
    Point,
    Rounding,
    Slack,
    Sum,
    Variable,
)
from gadgetopt.proofs.lemmas.splits import Split, deepest_lemma
from gadgetopt.proofs.lemmas.work import Work
from gadgetopt.proofs.tree_kernel import Box

if TYPE_CHECKING:
    from gadgetopt.numbers.arrays import Floats
    from gadgetopt.proofs.lemmas.gomory import Cuts, Deep
    from gadgetopt.proofs.lemmas.splits import Lemma
    from gadgetopt.proofs.model import Model
    from gadgetopt.proofs.relaxation import Tableau
    from gadgetopt.proofs.tree_kernel import Row

#: Rows that are added up, at most. Tuned: `benchmarks/constants.py`.
ROWS = 6
#: Lemmas of a round, at most, and as a part of the columns: the larger counts.
#: Tuned: `benchmarks/constants.py`.
A_ROUND, A_ROUND_PART = 50, 0.2
#: Lemmas of cuts already found that are made even where the time is up, so that they are not lost.
#: Tuned: `benchmarks/constants.py`.
FEW = 10
#: Columns of a lemma from which cuts are made, at most; its slack that counts as none, as a part.
#: Tuned: `benchmarks/constants.py`.
WIDEST, TIGHT = 100, 1e-6
#: Decimals to which a point is compared with an earlier one. Tuned: `benchmarks/constants.py`.
DIGITS = 6


class Side(NamedTuple):
    """`sum a x <= side` of a row: its number, and the factor by which it is one."""

    row: int
    sign: int
    terms: dict[int, float]
    side: float
    is_equation: bool
    norm: float


class MixedRounding:
    """Makes lemmas that a relaxation's optimum violates.

    Parameters
    ----------
    model : Model
    left_s : callable
        Returns the seconds that are left.
    work : Work, optional
        Counts the sums that are rounded.
    """

    def __init__(self, model: Model, left_s: Callable[[], float], work: Work | None = None):
        self.model, self.left_s, self.work = model, left_s, work or Work()
        self.rounding = Rounding(model)
        self._own = [side for i, row in enumerate(model.rows) for side in _sides_of(i, row)]
        for side in self._own:
            if len(side.terms) == 2:
                self._note_variable(side)
        # By side, its columns where it gave nothing: most of them stay as they are in many rounds.
        self._idle: dict[tuple[int, int], list[float]] = {}
        #: The model's sides and those of lemmas; by continuous column, those that hold it.
        self.sides: list[Side] = []
        self.holding: dict[int, list[int]] = {}
        # At a point, the distances of continuous columns from their bounds.
        self._far: dict[int, float] = {}
        # The tableau whose rows were last rounded, and its optimum.
        self._tableau: Tableau | None = None
        self._optimum = self.rounding.at([])
        # The sides of lemmas, of which there are more in every round.
        self._of_lemmas: list[Side] = []
        self._read_rows = len(model.rows)

    def _note_variable(self, side: Side) -> None:
        (x, a), (y, b) = side.terms.items()
        if self.model.integer[x]:
            x, a, y, b = y, b, x, a
        if self.model.integer[x] or not self.model.integer[y]:
            return
        sign = 1 if a > 0 else -1
        bound = Variable(side.row, y, -b / a, side.side / a, sign, -side.sign / abs(a))
        self.rounding.variable.setdefault(x, []).append(bound)

    def violated(self, x: Floats, rows: Sequence[Row]) -> list[Lemma]:
        """Return lemmas that cut off a point, the deepest first.

        Parameters
        ----------
        x : ndarray of float, shape (columns,)
        rows : sequence of Row
            Rows of the model and the lemmas so far: those of the last call, and more.
        """
        point = self.rounding.at(x.tolist())
        rounded = np.round(x, DIGITS).tolist()
        self._read(rows, point.x)
        self._far = {}
        cuts: list[tuple[float, Split]] = []
        for k in self._in_order(point.x):
            if self.left_s() <= 0:
                break
            side = self.sides[k]
            at = [rounded[j] for j in side.terms]
            if self._idle.get((side.row, side.sign)) == at:
                continue
            found = self._from(k, point)
            if found is not None:
                cuts.append(found)
            else:
                self._idle[side.row, side.sign] = at
        cuts.sort(key=lambda found: -found[0])
        box = Box(self.model, list(rows))
        made: list[Lemma] = []
        met = set[tuple[object, ...]]()
        for deep, cut in cuts[: max(A_ROUND, int(A_ROUND_PART * len(x)))]:
            key = (*cut.alpha.items(),)
            if key in met:
                continue
            if len(made) >= FEW and self.left_s() <= 0:
                break
            met.add(key)
            lemma = deepest_lemma(self.model, box, cut, x, deep)
            if lemma is not None and lemma[0] > DEEP:
                made.append(lemma[1])
        return made

    def _read(self, rows: Sequence[Row], x: list[float]) -> None:
        """Take the model's sides, and those of the lemmas that hold a point."""
        for i in range(self._read_rows, len(rows)):
            self._of_lemmas += _sides_of(i, rows[i])
        self._read_rows = max(self._read_rows, len(rows))
        of_lemmas = self._of_lemmas if len(rows) > len(self.model.rows) else []
        self.sides = [*self._own, *(side for side in of_lemmas if _holds(side, x))]
        self.holding = {}
        for k, side in enumerate(self.sides):
            for j in side.terms:
                if not self.model.integer[j]:
                    self.holding.setdefault(j, []).append(k)

    def of_tableau(
        self, cuts: Cuts, tableau: Tableau, multipliers: Floats, along: Floats
    ) -> Deep | None:
        """Return the cut of a row of the tableau; None if nothing comes of it.

        Parameters
        ----------
        cuts : Cuts
            Holds the rows of the model and the lemmas so far.
        multipliers : ndarray of float, shape (rows,)
            A row of the inverse of the basis.
        along : ndarray of float, shape (columns,)
            The sum of the rows times the multipliers.
        """
        multipliers = np.where(np.abs(multipliers) > NOISE, multipliers, 0.0)
        terms = {int(j): float(along[j]) for j in np.flatnonzero(np.abs(along) > NOISE)}
        if len(terms) > cuts.widest:
            return None
        if self._tableau is not tableau:
            self._tableau, self._optimum = tableau, self.rounding.at(tableau.x.tolist())
        best: Deep | None = None
        for sign in (1, -1):
            made = _tableau_sum(cuts, tableau, terms, multipliers, sign)
            found = None if made is None else self.rounding.cut(made, self._optimum)
            if found is not None and (best is None or found[0] > best[0]):
                best = found
        if best is None or len(best[1].alpha) > cuts.widest:
            return None
        return best

    def _in_order(self, x: list[float]) -> list[int]:
        """Return the sides to begin with, those that hold with the least slack first."""
        slack = [(_slack(side, x), k) for k, side in enumerate(self.sides)]
        return [k for _, k in sorted(slack)]

    def _from(self, k: int, point: Point) -> tuple[float, Split] | None:
        """Return the deepest cut of the first sum that gives one, beginning with a side."""
        first = self.sides[k]
        terms, side, used = dict(first.terms), first.side, {k}
        weights = {first.row: float(first.sign)}
        whole = first.is_equation
        for _ in range(ROWS):
            self.work.sum(len(terms))
            cut = self.rounding.cut(Sum(terms, side, weights), point)
            if cut is None and whole:
                cut = self.rounding.cut(Sum(_negated(terms), -side, _negated(weights)), point)
            if cut is not None:
                return cut
            found = self._next(terms, used, point.x)
            if found is None:
                return None
            added, factor = found
            used.add(added)
            other = self.sides[added]
            whole = whole and other.is_equation
            side += factor * other.side
            weights[other.row] = weights.get(other.row, 0.0) + factor * other.sign
            for j, a in other.terms.items():
                total = terms.get(j, 0.0) + factor * a
                if abs(total) > NOISE:
                    terms[j] = total
                else:
                    terms.pop(j, None)
        return None

    def _next(
        self, terms: dict[int, float], used: set[int], x: list[float]
    ) -> tuple[int, float] | None:
        """Return a side and factor that rid a sum of the continuous column farthest from bounds."""
        far = []
        for j in terms:
            if j in self.holding:
                distance = self._far.get(j)
                if distance is None:
                    distance = min(x[j] - self.rounding.lower[j], self._room(j, x))
                    self._far[j] = distance
                if distance > NEAR:
                    far.append((distance, j))
        for _, j in sorted(far, reverse=True):
            for k in self.holding[j]:
                side = self.sides[k]
                factor = -terms[j] / side.terms[j]
                if k not in used and (side.is_equation or factor > 0):
                    return k, factor
        return None

    def _room(self, j: int, x: list[float]) -> float:
        """Return the distance of a column from its nearest upper bound."""
        bounds = [
            b.factor * x[b.y] + b.constant for b in self.rounding.variable.get(j, []) if b.sign > 0
        ]
        return min([self.rounding.upper[j], *bounds]) - x[j]


def _tableau_sum(
    cuts: Cuts, tableau: Tableau, terms: dict[int, float], multipliers: Floats, sign: int
) -> Sum | None:
    """Return `sign` times a row of the tableau; None if a row of it is at no side."""
    weights: dict[int, float] = {}
    slacks: list[Slack] = []
    total = 0.0
    for i in np.flatnonzero(multipliers).tolist():
        weight, at = sign * float(multipliers[i]), int(tableau.rows[i])
        columns, coefficients, low, high, unit = cuts.box.rows[i]
        side = low if at > 0 else high
        if side is None or at == 0:
            return None
        total += weight * (side / unit)
        # At its upper side a row is its side less a slack, at its lower one its side and a slack.
        if low == high or weight * at < 0:
            weights[i] = weight
        else:
            numbers = [a / unit for a in coefficients]
            slacks.append(Slack(i, -abs(weight), at, columns, numbers, side / unit))
    return Sum(terms if sign > 0 else _negated(terms), total, weights, slacks)


def _negated(numbers: dict[int, float]) -> dict[int, float]:
    return {k: -x for k, x in numbers.items()}


def _sides_of(i: int, row: Row) -> Iterator[Side]:
    columns, coefficients, low, high, unit = row
    pairs = zip(columns, coefficients, strict=True)
    terms = {j: a / unit for j, a in pairs if a}
    norm = math.sqrt(sum([a * a for a in terms.values()]))
    if high is not None:
        yield Side(i, 1, terms, high / unit, low == high, norm)
    if low is not None and low != high:
        yield Side(i, -1, _negated(terms), -low / unit, is_equation=False, norm=norm)


def _slack(side: Side, x: list[float]) -> float:
    """Return the distance of a point from a side; negative beyond it."""
    rest = side.side - sum([a * x[j] for j, a in side.terms.items()])
    return rest / side.norm if side.norm else math.inf


def _holds(side: Side, x: list[float]) -> bool:
    """Return whether a lemma's side holds a point, and is short enough to make cuts from it."""
    return len(side.terms) <= WIDEST and _slack(side, x) < TIGHT
