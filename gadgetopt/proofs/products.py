"""Rows of products of choices, each a lemma of a tree proof: a split and two leaves.

Two choices, each a row `sum s = 1` over binary columns, meet in rows `y_ab >= s_a + s_b - 1`, one for
each label a of the first and b of the second: a product, made linear. Where such rows are there for
all a of a set S and all b of a set T,

    sum_{a in S, b in T} y_ab >= s(S) + s(T) - 1,

which is far stronger than the sum of the rows. For T of one label it follows from a split on it: on
`s_b = 0` from s(S) <= 1, on `s_b = 1` from the rows. For any T it follows in the same way from a split
on s(S) and those for each b (Adams and Sherali 1986, who multiply `sum s = 1` by s_b). A label is a
column, or a sum of columns of its choice; a row without y_ab says that a and b exclude each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gadgetopt.proofs.gomory import Lemma, form_words
from gadgetopt.proofs.leaves import Dual, leaf_of
from gadgetopt.proofs.tree_kernel import Box, rounded

if TYPE_CHECKING:
    from gadgetopt.numbers.arrays import Floats
    from gadgetopt.proofs.model import Form, Model
    from gadgetopt.proofs.tree_kernel import Row

#: A lemma is made where the relaxation's optimum violates it by this much.
VIOLATED = 0.01

#: Columns of a choice that have the same label.
Label = tuple[int, ...]


@dataclass(frozen=True)
class Product:
    """A row `sum(positive) >= s_a + s_b - 1`, and the dual 1 or -1 that stands for it."""

    row: Dual
    positive: Label


@dataclass
class Table:
    """The products of the labels of two choices; labels of a choice share no column.

    Attributes
    ----------
    choices : tuple of int
        The rows `sum s = 1`.
    """

    choices: tuple[int, int]
    products: dict[tuple[Label, Label], Product] = field(default_factory=dict)
    labels: tuple[set[Label], set[Label]] = field(default_factory=lambda: (set(), set()))

    def takes(self, pair: tuple[Label, Label]) -> bool:
        """Return True if a product of two labels can be added."""
        if pair in self.products:
            return False
        for label, known in zip(pair, self.labels, strict=True):
            if label not in known and any(set(label) & set(other) for other in known):
                return False
        return True

    def add(self, pair: tuple[Label, Label], product: Product) -> None:
        """Add a product of two labels."""
        self.products[pair] = product
        for label, known in zip(pair, self.labels, strict=True):
            known.add(label)

    def rectangle(self, x: Floats) -> tuple[list[Label], list[Label], float]:
        """Return labels S and T whose lemma a point violates most, of those found, and by how much.

        From each label as S, the best T and the best S for the other are taken by turns.
        """
        best: tuple[list[Label], list[Label], float] = [], [], 0.0
        ordered = [sorted(known) for known in self.labels]
        at = {label: float(x[list(label)].sum()) for known in ordered for label in known}
        paid = {pair: float(x[list(p.positive)].sum()) for pair, p in self.products.items()}
        for first in ordered[0]:
            left, right, most = [first], list[Label](), -1.0
            while True:
                right = [
                    b
                    for b in ordered[1]
                    if at[b] > sum(paid.get((a, b), math.inf) for a in left)
                ]
                left = [
                    a
                    for a in ordered[0]
                    if at[a] > sum(paid.get((a, b), math.inf) for b in right) and right
                ]
                gained = sum(at[a] for a in left) + sum(at[b] for b in right) - 1
                gained -= sum(paid.get((a, b), math.inf) for a in left for b in right)
                if gained <= most + VIOLATED:
                    break
                most = gained
                if gained > best[2]:
                    best = left, right, gained
        return best


def tables(model: Model) -> list[Table]:
    """Return the products of choices that a model has; those of two choices may be several."""
    choice: dict[int, int] = {}
    for i, row in enumerate(model.rows):
        if row.lower == row.upper == row.denominator and _is_sum_of_binaries(model, row):
            for j in row.columns:
                choice.setdefault(j, i)
    out: dict[tuple[int, int], list[Table]] = {}
    for pair, choices, product in _products(model, choice):
        some = out.setdefault(choices, [])
        table = next((one for one in some if one.takes(pair)), None)
        if table is None:
            table = Table(choices)
            some.append(table)
        table.add(pair, product)
    return [one for some in out.values() for one in some if len(one.products) > 1]


def _is_sum_of_binaries(model: Model, row: Row) -> bool:
    columns, coefficients, _, _, unit = row
    return all(
        a == unit and model.integer[j] and model.lower[j] == 0
        for j, a in zip(columns, coefficients, strict=True)
    )


def _products(
    model: Model, choice: dict[int, int]
) -> Iterator[tuple[tuple[Label, Label], tuple[int, int], Product]]:
    """Yield the labels of each product, their choices, and the product."""
    for i, (columns, coefficients, low, high, unit) in enumerate(model.rows):
        for sign, side in ((1, low), (-1, high)):
            if side is None or sign * side != -unit:
                continue
            signed = [(j, sign * a) for j, a in zip(columns, coefficients, strict=True)]
            labels: dict[int, list[int]] = {}
            for j, a in signed:
                if a == -unit:
                    labels.setdefault(choice.get(j, -1), []).append(j)
            positive = tuple(j for j, a in signed if a == unit)
            others = len(signed) - len(positive) - sum(map(len, labels.values()))
            lower = [model.lower[j] for j in positive]
            if others or len(labels) != 2 or -1 in labels or any(x is None or x < 0 for x in lower):
                continue
            (u, a_label), (v, b_label) = sorted(labels.items())
            yield (tuple(a_label), tuple(b_label)), (u, v), Product((i, float(sign)), positive)


class ProductLemmas:
    """Makes lemmas of the products of a model that a relaxation's optimum violates.

    Parameters
    ----------
    model : Model
    """

    def __init__(self, model: Model):
        self.model = model
        self.tables = tables(model)

    def violated(self, x: Floats, rows: Sequence[Row]) -> list[Lemma]:
        """Return lemmas, those that others cite before them.

        Parameters
        ----------
        x : ndarray of float, shape (columns,)
        rows : sequence of Row
            Rows of the model and the lemmas so far. Those returned come next.
        """
        box = Box(self.model, list(rows))
        made: list[Lemma] = []
        for table in self.tables:
            left, right, by = table.rectangle(x)
            if by > VIOLATED and len(left) * len(right) > 1:
                made += self._rectangle(box, table, left, right)
        return made

    def _rectangle(
        self, box: Box, table: Table, left: list[Label], right: list[Label]
    ) -> list[Lemma]:
        """Return the lemma of S and T after those of S and each b, whose rows the box gets."""
        made: list[Lemma] = []
        parts: list[Dual] = []
        for b in right:
            cited = [table.products[a, b].row for a in left]
            if len(left) > 1:
                lemma = self._lemma(box, table, (left, [b]), 1, cited)
                if lemma is None:
                    return []
                cited = [(len(box.rows), 1.0)]
                box.rows.append(lemma.row)
                made.append(lemma)
            parts += cited
        if len(right) > 1:
            lemma = self._lemma(box, table, (left, right), 0, parts)
            if lemma is None:
                return []
            box.rows.append(lemma.row)
            made.append(lemma)
        return made

    def _lemma(
        self,
        box: Box,
        table: Table,
        sides: tuple[list[Label], list[Label]],
        split_on: int,
        cited: Sequence[Dual],
    ) -> Lemma | None:
        """Return the lemma of two sets of labels by a split on one of them; None if it fails."""
        left, right = sides
        coefficients: dict[int, int] = {}
        for pair in ((a, b) for a in left for b in right):
            for j in table.products[pair].positive:
                coefficients[j] = coefficients.get(j, 0) + 1
        for j in (j for side in sides for label in side for j in label):
            coefficients[j] = coefficients.get(j, 0) - 1
        form: Form = (list(coefficients), list(coefficients.values()))
        chosen = [j for label in sides[split_on] for j in label]
        words = ["s", "0", *form_words((chosen, [1] * len(chosen)))]
        box.split(words)
        other: list[Dual] = [(table.choices[1 - split_on], -1.0)]
        low = leaf_of(box, form, 0, 1, other, [(0, -1.0)])
        box.turn()
        high = leaf_of(box, form, 0, 1, cited, [(0, len(cited) - 1.0)])
        box.leave()
        if low is None or high is None or low[1] is None or high[1] is None:
            return None
        least = rounded(self.model, form, min(low[1], high[1]))
        assert least is not None
        lines = [" ".join(["lemma", *form_words(form)]), " ".join(words), low[0], high[0]]
        return Lemma(form, least, lines)
