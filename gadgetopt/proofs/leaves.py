"""Leaves of tree proofs: a solver's duals rounded to dyadic numbers that still prove enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats
from gadgetopt.proofs.estimates import Estimates
from gadgetopt.proofs.tree_kernel import Box, Rejected, Row, divisor_of, leaf_bound

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Form

#: Binary digits after the point that are tried in this order; few make short proofs.
#: Tuned: `benchmarks/constants.py`.
DIGITS = (0, 3, 6, 10, 16, 24, 34, 48, 64, 90)
#: Those tried where no bound is needed and the best is wanted. Tuned: `benchmarks/constants.py`.
DIGITS_OF_BEST = (0, 10, 24, 48)
#: How many of these are tried first if they hold the duals, to so much.
#: Tuned: `benchmarks/proofs.py`.
FEW, WHOLE = 5, 1e-6
#: Zeros after the point of a dual for which they are too few, and its digits after those.
#: Tuned: `benchmarks/constants.py`.
MANY_ZEROS, SIGNIFICANT = 28, 32
#: Part of it that the best leaf may lose to have fewer digits. Tuned: `benchmarks/constants.py`.
NEAR_BEST = 1e-10

#: A row or split, and its dual.
Dual = tuple[int, float]


@dataclass
class Leaves:
    """Leaves on a form at the nodes of a tree, of as many digits as doubles say they need.

    Attributes
    ----------
    low, high : ndarray of float, shape (columns,)
        The bounds of the box in doubles.
    """

    box: Box
    form: Form

    def __post_init__(self) -> None:
        lower, upper = self.box.lower, self.box.upper
        self.low: Floats = np.array([-np.inf if x is None else float(x) for x in lower])
        self.high: Floats = np.array([np.inf if x is None else float(x) for x in upper])
        # The first leaf is made by trying: most trees are one leaf.
        self._is_first = True
        self._estimates: Estimates | None = None

    def bounding(
        self, rows: Sequence[Dual], splits: Sequence[Dual], need: Fraction
    ) -> tuple[str, Fraction] | None:
        """Return the shortest leaf that proves `need`, and what it proves; None if none does."""
        enough = float(need)
        for k in self._digits(rows, splits, lambda proved: proved >= enough):
            made = leaf_of(self.box, self.form, k, 1, rows, splits)
            if made is not None and made[1] is not None and made[1] >= need:
                return made[0], made[1]
        return None

    def best(self, rows: Sequence[Dual], splits: Sequence[Dual]) -> tuple[str, Fraction] | None:
        """Return the shortest leaf that proves as good as most; None if the duals prove nothing."""

        def as_good(proved: Floats) -> Bools:
            most = proved.max()
            near: Bools = np.isfinite(proved) & (proved >= most - NEAR_BEST * abs(most))
            return near

        for k in [] if self._is_first else self._digits(rows, splits, as_good):
            made = leaf_of(self.box, self.form, k, 1, rows, splits)
            if made is not None and made[1] is not None:
                return made[0], made[1]
        return best_leaf(self.box, self.form, rows, splits)

    def infeasible(self, rows: Sequence[Dual], splits: Sequence[Dual]) -> str | None:
        """Return the leaf by which a ray proves that nothing is feasible; None if it does not."""
        nothing: Form = ([], [])
        for sign in (1, -1):
            of_rows, of_splits = ([(i, sign * y) for i, y in duals] for duals in (rows, splits))
            for k in self._digits(of_rows, of_splits, lambda proved: proved > 0, q=0):
                made = leaf_of(self.box, nothing, k, 0, of_rows, of_splits)
                if made is not None:
                    return made[0]
        return None

    def _digits(
        self,
        rows: Sequence[Dual],
        splits: Sequence[Dual],
        is_enough: Callable[[Floats], Bools],
        q: int = 1,
    ) -> list[int]:
        """Return numbers of digits with which duals seem to prove enough, those worth trying."""
        if self._is_first:
            self._is_first = False
            held = _digits_of([y for _, y in (*rows, *splits)])
            return [*DIGITS[held:], *DIGITS[:held]]
        if self._estimates is None:
            self._estimates = Estimates(self.form, len(self.low), self.box.rows, DIGITS)
        of_splits = [(self.box.splits[t], y) for t, y in splits]
        for whole in (np.rint, np.trunc):
            proved = self._estimates.proved(self.low, self.high, rows, of_splits, q, whole)
            found = [DIGITS[n] for n in np.flatnonzero(is_enough(proved))]
            if found or np.isfinite(proved).all():
                break
        return [*found[:2], *found[2:][-2:]]


def best_leaf(
    box: Box, form: Form, rows: Sequence[Dual], splits: Sequence[Dual]
) -> tuple[str, Fraction] | None:
    """Return the leaf that proves most on a form; None if the duals prove nothing."""
    found: tuple[str, Fraction] | None = None
    least = min((abs(y) for _, y in (*rows, *splits)), default=1.0)
    # Those of rows with large coefficients are tiny: the digits begin where theirs do.
    zeros = -math.frexp(least)[1]
    more = (min(DIGITS[-1], zeros + SIGNIFICANT),) if zeros > MANY_ZEROS else ()
    for k in (*DIGITS_OF_BEST, *more):
        made = leaf_of(box, form, k, 1, rows, splits)
        if made is not None and made[1] is not None and (found is None or made[1] > found[1]):
            found = made[0], made[1]
    return found


def row_leaf(
    box: Box, form: Form | None, need: Fraction, rows: Sequence[Dual], splits: Sequence[Dual]
) -> str | None:
    """Return the leaf by which duals of -1 and 1 prove `need` on a form, or infeasibility of None.

    It returns None if they prove neither.
    """
    made = leaf_of(box, form or ([], []), 0, 0 if form is None else 1, rows, splits)
    if made is None or (made[1] is not None and made[1] < need):
        return None
    return made[0]


def used_bounds(
    box: Box, form: Form, leaf: str, among: Container[int]
) -> Iterator[tuple[int, bool]]:
    """Yield those of some columns whose bounds a leaf rests on, and whether it is the upper one."""
    rows, *rest = leaf.split(" |")
    _, _, q, *pairs = rows.split()
    parts = [(box.rows, pairs)] + [(box.splits, words.split()) for words in rest]
    duals = [
        (sides[int(i)], int(y))
        for sides, words in parts
        for i, y in zip(words[::2], words[1::2], strict=True)
    ]
    if q == "0" and len(duals) == 1:  # most leaves of propagation
        (columns, coefficients, *_), y = duals[0]
        pairs_of = zip(columns, coefficients, strict=True)
        return ((j, y * a > 0) for j, a in pairs_of if j in among and y * a)
    divisor, common = divisor_of(leaf.split(None, 2)[1]), lcm(*(row[4] for row, _ in duals))
    unit = common * divisor if q == "1" else 0
    reduced = {j: a * unit for j, a in zip(*form, strict=True) if j in among}
    for (columns, coefficients, _, _, denominator), y in duals:
        weight = y * (common // denominator)
        for j, a in zip(columns, coefficients, strict=True):
            if j in among:
                reduced[j] = reduced.get(j, 0) - weight * a
    return ((j, r < 0) for j, r in reduced.items() if r)


def leaf_of(
    box: Box, form: Form, k: int, q: int, rows: Sequence[Dual], splits: Sequence[Dual]
) -> tuple[str, Fraction | None] | None:
    """Return a leaf with duals of k binary digits, and what it proves; None if it is rejected.

    Where duals rounded to the nearest are rejected, those rounded towards zero may not be: a
    reduced cost of zero must not get the sign on which its column has no bound.
    """
    ways: tuple[Callable[[float], int], ...] = (round, int)
    for rounded in ways:
        pairs = _whole(rows, k, rounded, box.rows)
        rest = _whole(splits, k, rounded, box.splits)
        try:
            bound = leaf_bound(box, form, 1 << k, q, pairs, rest)
        except Rejected:
            if q == 0:
                return None
            continue
        words = ["l", k, q, *pairs, *(["|", *rest] if rest else [])]
        return " ".join(map(str, words)), bound
    return None


def _whole(
    duals: Sequence[Dual], k: int, rounded: Callable[[float], int], rows: Sequence[Row]
) -> list[int]:
    """Return `i Y ...`, without noise on sides that a row does not have."""
    out: list[int] = []
    for i, y in duals:
        whole = rounded(math.ldexp(y, k))
        if whole and rows[i][2 if whole > 0 else 3] is not None:
            out += [i, whole]
    return out


def _digits_of(duals: Sequence[float]) -> int:
    """Return the place in `DIGITS` of the fewest that hold duals whole; 0 if none do."""
    for place, k in enumerate(DIGITS[:FEW]):
        scaled = [math.ldexp(y, k) for y in duals]
        if all(abs(y - round(y)) <= WHOLE for y in scaled):
            return place
    return 0


def sparse_duals(duals: Floats) -> list[Dual]:
    """Return the duals that are not zero, each with its row."""
    used = np.flatnonzero(np.isfinite(duals) & (duals != 0))
    return [(int(i), float(duals[i])) for i in used]
