"""Lemmas that a split and two leaves prove, and those that others need."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gadgetopt.proofs.leaves import Dual, best_leaf, leaf_of
from gadgetopt.proofs.tree_kernel import Box, Row, rounded

if TYPE_CHECKING:
    from gadgetopt.numbers.arrays import Floats
    from gadgetopt.proofs.model import Form, Model

#: Largest coefficients of a lemma, tried in this order until it is at least this part as deep as
#: the cut; entries below which a cut's share of it is noise. Tuned: `benchmarks/constants.py`.
LARGEST, ENOUGH, NOISE = (2**16, 2**28, 2**40), 0.5, 1e-9
#: Binary digits of the duals of its leaves where these are enough, or those times the lemma's unit.
#: Tuned: `benchmarks/constants.py`.
FEW, MANY = (0, 4, 10), 48
#: Largest coefficient of a lemma whose coefficients are proportional to small integers.
#: Tuned: `benchmarks/constants.py`.
SMALL = 1000


@dataclass(frozen=True)
class Lemma:
    """A row `form >= least` and the lines that prove it."""

    form: Form
    least: Fraction
    lines: list[str]

    @cached_property
    def row(self) -> Row:
        """The row that the checker makes of it."""
        above, below = self.least.numerator, self.least.denominator
        return (self.form[0], [a * below for a in self.form[1]], above, None, below)


#: Duals of rows, and that of the split, on one of its sides.
SideDuals = tuple[Mapping[int, float], float]


@dataclass(frozen=True)
class Split:
    """A cut `alpha x >= ...` that follows on both sides of a split, in doubles.

    Attributes
    ----------
    alpha : mapping of int to float
        Coefficients by column.
    form : mapping of int to int
        The form that is split on, over integer columns.
    value : int
        The sides are `form <= value` and `form >= value + 1`.
    left, right : SideDuals
        What proves the cut on each.
    """

    alpha: Mapping[int, float]
    form: Mapping[int, int]
    value: int
    left: SideDuals
    right: SideDuals


def deepest_lemma(
    model: Model, box: Box, cut: Split, x: Floats, wanted: float
) -> tuple[float, Lemma] | None:
    """Return the lemma of a cut and its depth at a point; None if it proves nothing.

    Parameters
    ----------
    wanted : float
        The depth of the cut before its coefficients become integers.
    """
    best: tuple[float, Lemma] | None = None
    for largest in LARGEST:
        lemma = proved_by_split(model, box, cut, largest)
        if lemma is None:
            continue
        deep = depth(lemma, x)
        if best is None or deep > best[0]:
            best = deep, lemma
        if deep >= ENOUGH * wanted:
            break
    return best


def proved_by_split(model: Model, box: Box, cut: Split, largest: int) -> Lemma | None:
    """Return the lemma of a cut with its two leaves; None if one of them proves nothing."""
    columns = sorted(cut.alpha)
    found = integer_form(np.array([cut.alpha[j] for j in columns]), largest)
    if found is None:
        return None
    numbers, unit = found
    whole = list(map(int, numbers.tolist()))
    form = ([j for j, a in zip(columns, whole, strict=True) if a], [a for a in whole if a])
    split = (list(cut.form), list(cut.form.values()))
    words = ["s", str(cut.value), *form_words(split)]
    lines = [" ".join(["lemma", *form_words(form)]), " ".join(words)]
    bounds = []
    box.split(words)
    for rows, dual in (cut.left, cut.right):
        used: list[Dual] = [(i, unit * y) for i, y in rows.items() if y]
        leaf = _leaf(box, form, used, (0, unit * dual), unit)
        if leaf is not None:
            lines.append(leaf[0])
            bounds.append(leaf[1])
        box.turn()
    box.leave()
    if len(bounds) < 2:
        return None
    least = rounded(model, form, min(bounds))
    assert least is not None
    return Lemma(form, least, lines)


def _leaf(
    box: Box, form: Form, rows: Sequence[Dual], split: Dual, unit: float
) -> tuple[str, Fraction] | None:
    """Return a leaf of few digits if its duals have few, else of as many as doubles have."""
    duals = [*(y for _, y in rows), split[1]]
    for k in FEW:
        scaled = [math.ldexp(y, k) for y in duals]
        if all(abs(y - round(y)) <= NOISE * max(1.0, abs(y)) for y in scaled):
            break
    else:
        k = max(FEW[-1], MANY - math.frexp(unit)[1])
    made = leaf_of(box, form, k, 1, rows, [split])
    if made is None or made[1] is None:
        return best_leaf(box, form, rows, [split])
    return made[0], made[1]


def integer_form(alpha: Floats, at_most: int) -> tuple[Floats, float] | None:
    """Return integers proportional to a cut's coefficients, and the factor; None if all are 0."""
    largest = float(np.abs(alpha).max(initial=0.0))
    used = np.abs(alpha) > NOISE * largest
    if not used.any():
        return None
    unit = 1 / float(np.abs(alpha[used]).min())
    small = np.where(used, alpha * unit, 0.0)
    if np.abs(small).max() > SMALL or np.abs(small - np.round(small)).max() > 1e-6:
        unit = 2.0 ** np.floor(np.log2(at_most / largest))
        small = np.where(used, alpha * unit, 0.0)
    return np.rint(small).astype(float), float(unit)


def without_unused(
    lemmas: Sequence[Lemma], tree: Sequence[str], first: int
) -> tuple[list[Lemma], list[str]]:
    """Return a tree and the lemmas that it needs, with their new numbers as rows.

    Parameters
    ----------
    first : int
        Number of the first lemma's row.
    """
    used = _cited(tree, first)
    for k in reversed(range(len(lemmas))):
        if first + k in used:
            used |= _cited(lemmas[k].lines, first)
    kept = [k for k in range(len(lemmas)) if first + k in used]
    number = {first + k: first + new for new, k in enumerate(kept)}
    out = [
        Lemma(lemmas[k].form, lemmas[k].least, _renumbered(lemmas[k].lines, number)) for k in kept
    ]
    return out, _renumbered(tree, number)


def _cited(lines: Sequence[str], first: int) -> set[int]:
    leaves = (line.split("|")[0].split() for line in lines if line.startswith("l "))
    return {int(i) for words in leaves for i in words[3::2] if int(i) >= first}


def _renumbered(lines: Sequence[str], number: dict[int, int]) -> list[str]:
    return [_with_rows(line, number) if line.startswith("l ") else line for line in lines]


def _with_rows(leaf: str, number: dict[int, int]) -> str:
    rows, *splits = leaf.split(" |")
    words = rows.split()
    words[3::2] = [str(number.get(int(i), int(i))) for i in words[3::2]]
    return " |".join([" ".join(words), *splits])


def depth(lemma: Lemma, x: Floats) -> float:
    """Return the distance of a point from the half-space of a lemma; negative inside."""
    columns, numbers = lemma.form
    a = np.array(numbers, dtype=float)
    return (float(lemma.least) - float(a @ x[columns])) / float(np.linalg.norm(a))


def form_words(form: Form) -> list[str]:
    """Return the words `j a ...` of a form."""
    return [str(word) for pair in zip(*form, strict=True) for word in pair]
