"""Rows of products of choices, each a lemma of a tree proof: a split and two leaves.

Two choices, each a row `sum s = 1` over binary columns, meet in rows `y_ab >= s_a + s_b - 1`, one
for each label a of the first and b of the second: a product, made linear. Where such rows are there
for all a of a set S and all b of a set T,

    sum_{a in S, b in T} y_ab >= s(S) + s(T) - 1,

which is far stronger than the sum of the rows. For T of one label it follows from a split on it: on
`s_b = 0` from s(S) <= 1, on `s_b = 1` from the rows. For any T it follows in the same way from a
split on s(S) and the lemmas of S and each b (Adams and Sherali 1986 multiply `sum s = 1` by s_b). A
label is a column, or a sum of columns of its choice; a row without y_ab says that a and b exclude
each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gadgetopt.proofs.leaves import Dual, leaf_of
from gadgetopt.proofs.lemmas.splits import Lemma, form_words
from gadgetopt.proofs.tree_kernel import Box, rounded

if TYPE_CHECKING:
    from gadgetopt.numbers.arrays import Floats
    from gadgetopt.proofs.model import Form, Model
    from gadgetopt.proofs.tree_kernel import Row

#: A lemma is made where the relaxation's optimum violates it by this much.
#: Tuned: `benchmarks/constants.py`.
VIOLATED = 0.01
#: Sums of the relaxation's optimum that differ by less count as equal.
#: Tuned: `benchmarks/constants.py`.
NOISE = 1e-6
#: Tables of two choices, at most; products that fit into none of them are left out.
#: Tuned: `benchmarks/constants.py`.
MOST_TABLES = 10

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
    #: By choice: the label of each column.
    labels: tuple[dict[int, Label], dict[int, Label]] = field(default_factory=lambda: ({}, {}))

    def takes(self, pair: tuple[Label, Label]) -> bool:
        """Return True if a product of two labels can be added."""
        return pair not in self.products and all(
            label_of.get(j, label) == label
            for label, label_of in zip(pair, self.labels, strict=True)
            for j in label
        )

    def add(self, pair: tuple[Label, Label], product: Product) -> None:
        """Add a product of two labels."""
        self.products[pair] = product
        for label, label_of in zip(pair, self.labels, strict=True):
            label_of.update(dict.fromkeys(label, label))

    def rectangle(self, x: Floats) -> tuple[list[Label], list[Label], float]:
        """Return labels S and T whose lemma a point violates most, of those found, and by how much.

        From each label as S, the best T and the best S for the other are taken by turns. Labels
        that neither gain nor cost are added at the end: the lemma is stronger elsewhere.
        """
        point = _Point(self, x)
        best: tuple[list[Label], list[Label], float] = [], [], 0.0
        for first in point.answer(0, []):
            left, most = [first], -math.inf
            while True:
                right = point.answer(1, left)
                left = point.answer(0, right)
                violated = point.violated(left, right)
                if violated <= most + VIOLATED:
                    break
                most = violated
                if violated > best[2]:
                    best = left, right, violated
        left, right, most = best
        right = point.answer(1, left, -NOISE)
        return point.answer(0, right, -NOISE), right, most


class _Point:
    """What labels and their products are at a point; a pair without a product costs too much."""

    def __init__(self, table: Table, x: Floats):
        self.labels = [sorted(set(label_of.values())) for label_of in table.labels]
        self._at = {label: float(x[list(label)].sum()) for some in self.labels for label in some}
        self._paid = {
            pair: float(x[list(product.positive)].sum()) for pair, product in table.products.items()
        }

    def answer(self, side: int, others: list[Label], least: float = NOISE) -> list[Label]:
        """Return the labels of a side that gain more than `least` with all of some of the other."""
        return [
            one
            for one in self.labels[side]
            if self._at[one] > least and self._gain(side, one, others) > least
        ]

    def _gain(self, side: int, one: Label, others: list[Label]) -> float:
        pairs = ((one, other) if side == 0 else (other, one) for other in others)
        return self._at[one] - sum(self._paid.get(pair, math.inf) for pair in pairs)

    def violated(self, left: list[Label], right: list[Label]) -> float:
        """Return by how much the lemma of two sets of labels is violated."""
        return sum(self._at[b] for b in right) + sum(self._gain(0, a, right) for a in left) - 1


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
            if len(some) == MOST_TABLES:
                continue
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
