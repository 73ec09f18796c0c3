"""Bounds of columns that have none, as single rows imply them: the first lines of a tree proof.

A leaf needs a bound wherever its reduced cost is not exactly zero. Where a column has none, a row
`sum a x <= U` and bounds of its other columns may give one: `a_j x_j <= U - rest`. What is worse
than a solution at hand may be cut off before, which bounds the columns that cost something.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.tree_kernel import Box, leaf_bound, rounded

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Form

#: The cut lies above the target by this part of it, and by 1: where it is near, nothing is gained.
#: Tuned: `benchmarks/constants.py`.
BEYOND_TARGET = Fraction(1, 1000)
#: Binary digits of a bound's denominator, at most: sums over long ones cost more than they prove.
#: Tuned: `benchmarks/constants.py`.
MOST_BITS = 256


class Bounded(NamedTuple):
    """A model with the bounds that some lines prove, and its cut as its last row if it has one."""

    lines: list[str]
    model: Model
    has_cut: bool


def bounded(model: Model, target: Fraction | None) -> Bounded:
    """Return a model in which as many columns have bounds as single rows give them.

    Parameters
    ----------
    target : Fraction or None
        A `sum(costs * x)`; what lies well above it may be cut off. None if nothing may.
    """
    if not _missing(model):
        return Bounded([], model, has_cut=False)
    by_rows = _implied(model)
    if target is None or not _missing(by_rows.model):
        return by_rows
    columns, costs = model.costs
    most = math.floor(target + abs(target) * BEYOND_TARGET + 1)
    row = Row(list(columns), list(costs), None, most, 1)
    cut_off = by_rows.model._replace(rows=[*model.rows, row])
    by_cut = _implied(cut_off, [len(model.rows)])
    if not by_cut.lines:
        return by_rows
    lines = [f"cut {most}", *by_rows.lines, *by_cut.lines]
    return Bounded(lines, by_cut.model, has_cut=True)


def open_sides(model: Model) -> Iterator[tuple[int, int]]:
    """Yield the columns with one bound alone, each with the sign of a cost that bound limits."""
    if not _missing(model):
        return
    for j, (low, high) in enumerate(zip(model.lower, model.upper, strict=True)):
        if (low is None) != (high is None):
            yield j, 1 if high is None else -1


def _missing(model: Model) -> int:
    return model.lower.count(None) + model.upper.count(None)


def _implied(model: Model, new: Sequence[int] | None = None) -> Bounded:
    """Return a model with the bounds that single rows imply, one after the other.

    Parameters
    ----------
    new : sequence of int, optional
        Rows to begin with, where the others imply nothing by themselves.
    """
    box, lines = Box(model, list(model.rows)), list[str]()
    by_column: dict[int, list[int]] = {}
    for j, (low, high) in enumerate(zip(model.lower, model.upper, strict=True)):
        if low is None or high is None:
            by_column[j] = []
    for i, row in enumerate(model.rows):
        for j in row.columns:
            if j in by_column:
                by_column[j].append(i)
    if new is None:
        new = sorted({i for rows in by_column.values() for i in rows})
    waiting = deque(new)
    listed = set(waiting)
    while waiting:
        i = waiting.popleft()
        listed.discard(i)
        for j, form, leaf in _of_row(box, model, i):
            if not _tightened(model, box, form, leaf):
                continue
            lines += [f"bound {j} {form[1][0]}", "l 0 1 " + " ".join(map(str, leaf))]
            others = [k for k in by_column[j] if k not in listed]
            waiting.extend(others)
            listed.update(others)
    return Bounded(lines, model._replace(lower=box.lower, upper=box.upper), has_cut=False)


def _of_row(box: Box, model: Model, i: int) -> Iterator[tuple[int, Form, Sequence[int]]]:
    """Yield columns that a row may bound, each with a form and a leaf's `i Y` that says so."""
    columns, coefficients, low, high, unit = model.rows[i]
    for side, sign in ((high, 1), (low, -1)):
        if side is None:
            continue
        signed = [(j, sign * a) for j, a in zip(columns, coefficients, strict=True) if a]
        endless = [j for j, a in signed if (box.lower[j] if a > 0 else box.upper[j]) is None]
        if len(endless) > 1:
            continue
        for j, a in signed:
            other = box.upper[j] if a > 0 else box.lower[j]
            if other is None and (not endless or endless == [j]):
                # sum a x <= side: -a x_j is at least the rest less the side.
                yield j, ([j], [-a]), (i, -sign * unit)


def _tightened(model: Model, box: Box, form: Form, leaf: Sequence[int]) -> bool:
    """Tighten a column by what a leaf proves of a form of it; False if that has too many digits."""
    least = rounded(model, form, leaf_bound(box, form, 1, 1, leaf, []))
    if least is None or least.denominator.bit_length() > MOST_BITS:
        return False
    box.tighten(form, least)
    return True
