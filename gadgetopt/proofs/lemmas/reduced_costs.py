"""Reduced costs of the root as a lemma of a tree proof, so that they fix columns by short leaves.

Duals y of the root give `c.x = y'Ax + r.x`. That `y'Ax` is at least some b is a lemma of one leaf.
With it, points below the target have `r.x < target - b`: a row over the reduced costs r. A bound of
a column that follows from this row closes the other side of a split by a leaf that cites the lemma
alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING

from gadgetopt.proofs.leaves import Dual, leaf_of
from gadgetopt.proofs.lemmas.splits import Lemma, form_words
from gadgetopt.proofs.tree_kernel import Box, Rejected, leaf_bound, rounded

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Form, Model

#: Binary digits of the duals that are tried in this order. Tuned: `benchmarks/constants.py`.
DIGITS = (0, 4, 10, 20, 30)
#: Part of the distance from the target that duals of few digits may lose.
#: Tuned: `benchmarks/constants.py`.
LOSS = Fraction(1, 20)
#: Least part of the integer columns that must be fixed for the lemma to be worth its leaves.
#: Tuned: `benchmarks/constants.py`.
WORTH = 0.5


@dataclass(frozen=True)
class Priced:
    """A lemma `p.x >= b` from duals of the root, and the reduced costs that it leaves.

    Attributes
    ----------
    lemma : Lemma
    at : int
        The number of its row.
    digits : int
        Its form is y'A times 2^digits.
    reduced : tuple
        Columns, their reduced costs, and the most that these may add up to below the target.
    """

    lemma: Lemma
    at: int
    digits: int
    reduced: tuple[list[int], list[float], float]

    def leaf(self, box: Box, form: Form, need: Fraction) -> str | None:
        """Return the leaf that cites the lemma alone; None if it does not prove `need`."""
        try:
            bound = leaf_bound(box, form, 1 << self.digits, 1, [self.at, 1], [])
        except Rejected:
            return None
        if bound is None or bound < need:
            return None
        return self.line

    @cached_property
    def line(self) -> str:
        """The leaf that cites the lemma alone."""
        return f"l {self.digits} 1 {self.at} 1"

    @cached_property
    def _costs(self) -> dict[int, float]:
        columns, costs, _ = self.reduced
        return dict(zip(columns, costs, strict=True))

    def used_bounds(self, among: Iterable[int]) -> Iterator[tuple[int, bool]]:
        """Yield those of some columns whose bounds it rests on, and whether it is the upper one."""
        costs = self._costs
        return ((j, costs[j] < 0) for j in among if j in costs)


def priced(model: Model, box: Box, duals: Sequence[Dual], need: Fraction) -> Priced | None:
    """Return the lemma of the root's duals; None if it fixes too few columns.

    Parameters
    ----------
    box : Box
        At the root. The lemma becomes its next row.
    duals : sequence of Dual
        Optimal ones of the relaxation.
    need : Fraction
        What leaves must prove of `sum(costs * x)`.
    """
    leaf = _short(box, model.costs, duals, need)
    if leaf is None:
        return None
    digits, pairs, bound = leaf
    form = _weighted(box, pairs)
    reduced = _reduced(model, form, digits)
    if not _is_worth_it(model, reduced, float(need - bound)):
        return None
    words = " ".join(["l 0 1", *map(str, pairs)])
    try:
        least = rounded(model, form, leaf_bound(box, form, 1, 1, pairs, []))
    except Rejected:  # a form that is rounded, on a column without a bound
        return None
    assert least is not None
    lines = [" ".join(["lemma", *form_words(form)]), words]
    most = float(need - least / (1 << digits))
    columns = sorted(reduced)
    costs = (columns, [reduced[j] for j in columns], most)
    return Priced(Lemma(form, least, lines), len(box.rows), digits, costs)


def _short(
    box: Box, form: Form, duals: Sequence[Dual], need: Fraction
) -> tuple[int, list[int], Fraction] | None:
    """Return binary digits, `i Y ...` and bound of the shortest leaf that is near the best."""
    *few, most = DIGITS
    best = leaf_of(box, form, most, 1, duals, [])
    if best is None or best[1] is None:
        return None
    enough = best[1] - LOSS * abs(need - best[1])
    for digits in few:
        made = leaf_of(box, form, digits, 1, duals, [])
        if made is not None and made[1] is not None and made[1] >= enough:
            return digits, list(map(int, made[0].split()[3:])), made[1]
    return most, list(map(int, best[0].split()[3:])), best[1]


def _weighted(box: Box, pairs: Sequence[int]) -> Form:
    """Return the sum of rows times numbers, `i Y ...`, its coefficients rounded to integers."""
    rows = [(box.rows[i], y) for i, y in zip(pairs[::2], pairs[1::2], strict=True)]
    common = lcm(*(row[4] for row, _ in rows))
    total: dict[int, int] = {}
    for (columns, coefficients, _, _, unit), y in rows:
        weight = y * (common // unit)
        for j, a in zip(columns, coefficients, strict=True):
            total[j] = total.get(j, 0) + weight * a
    whole = {j: (2 * a + common) // (2 * common) for j, a in total.items()}
    columns = [j for j, a in whole.items() if a]
    return columns, [whole[j] for j in columns]


def _reduced(model: Model, form: Form, digits: int) -> dict[int, float]:
    """Return the costs less a form over 2^digits, where they are not zero."""
    out = {j: a << digits for j, a in zip(*model.costs, strict=True)}
    for j, a in zip(*form, strict=True):
        out[j] = out.get(j, 0) - a
    return {j: math.ldexp(a, -digits) for j, a in out.items() if a}


def _is_worth_it(model: Model, reduced: dict[int, float], slack: float) -> bool:
    """Return True if enough integer columns lose a value to their reduced costs."""
    loses = 0
    for j, r in reduced.items():
        low, high = model.lower[j], model.upper[j]
        if model.integer[j] and abs(r) > slack and (low is None or high is None or low < high):
            loses += 1
    return loses > 0 and loses >= WORTH * sum(model.integer)
