"""Leaves of tree proofs: a solver's duals rounded to dyadic numbers that still prove enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.proofs.tree_kernel import Box, Rejected, Row, divisor_of, leaf_bound

if TYPE_CHECKING:
    from gadgetopt.numbers.arrays import Floats
    from gadgetopt.proofs.model import Form

#: Binary digits after the point that are tried in this order; few make short proofs.
DIGITS = (0, 3, 6, 10, 16, 24, 34, 48, 64, 90)
#: Those tried where no bound is needed and the best is wanted.
DIGITS_OF_BEST = (0, 10, 24, 48)

#: A row or split, and its dual.
Dual = tuple[int, float]


def bounding_leaf(
    box: Box, form: Form, rows: Sequence[Dual], splits: Sequence[Dual], need: Fraction
) -> tuple[str, Fraction] | None:
    """Return the shortest leaf that proves `need` on a form, and what it proves; None if none."""
    for k in DIGITS:
        made = leaf_of(box, form, k, 1, rows, splits)
        if made is not None and made[1] is not None and made[1] >= need:
            return made[0], made[1]
    return None


def best_leaf(
    box: Box, form: Form, rows: Sequence[Dual], splits: Sequence[Dual]
) -> tuple[str, Fraction] | None:
    """Return the leaf that proves most on a form; None if the duals prove nothing."""
    found: tuple[str, Fraction] | None = None
    for k in DIGITS_OF_BEST:
        made = leaf_of(box, form, k, 1, rows, splits)
        if made is not None and made[1] is not None and (found is None or made[1] > found[1]):
            found = made[0], made[1]
    return found


def infeasible_leaf(box: Box, rows: Sequence[Dual], splits: Sequence[Dual]) -> str | None:
    """Return the leaf by which a ray proves that nothing is feasible; None if it does not."""
    nothing: Form = ([], [])
    for k in DIGITS:
        for sign in (1, -1):
            turned = [[(i, sign * y) for i, y in duals] for duals in (rows, splits)]
            made = leaf_of(box, nothing, k, 0, *turned)
            if made is not None:
                return made[0]
    return None


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


def used_bounds(box: Box, form: Form, leaf: str) -> Iterator[tuple[int, bool]]:
    """Yield the columns whose bounds a leaf rests on, and whether it is the upper bound."""
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
        return ((j, y * a > 0) for j, a in zip(columns, coefficients, strict=True) if y * a)
    divisor, common = divisor_of(leaf.split(None, 2)[1]), lcm(*(row[4] for row, _ in duals))
    reduced = {j: a * common * divisor for j, a in zip(*form, strict=True)} if q == "1" else {}
    for (columns, coefficients, _, _, denominator), y in duals:
        weight = y * (common // denominator)
        for j, a in zip(columns, coefficients, strict=True):
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


def sparse_duals(duals: Floats) -> list[Dual]:
    """Return the duals that are not zero, each with its row."""
    used = np.flatnonzero(np.isfinite(duals) & (duals != 0))
    return [(int(i), float(duals[i])) for i in used]
