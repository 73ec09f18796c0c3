"""The parts of a tree proof: cut, bounds of columns, lemmas, and the tree of the objective."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from gadgetopt.proofs.model import Row
from gadgetopt.proofs.tree_kernel import Box, proved

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Form, Model

KINDS = ("lemma", "bound", "cut", "tree")


class Section(NamedTuple):
    """A part of a proof.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    form : Form
        What the tree is of; empty for that of the objective, and for a cut.
    lines : list of str
        Of the tree.
    head : str
        The line before it.
    """

    kind: str
    form: Form
    lines: list[str]
    head: str


def sections(proof: Sequence[str]) -> Iterator[Section]:
    """Yield the parts of a proof that the checker accepts, in their order."""
    starts = [k for k, line in enumerate(proof) if line.split()[0] in KINDS]
    for start, end in zip(starts, [*starts[1:], len(proof)], strict=True):
        kind, *words = proof[start].split()
        numbers = [] if kind == "cut" else list(map(int, words))
        form = numbers[::2], numbers[1::2]
        yield Section(kind, form, list(proof[start + 1 : end]), proof[start])


def with_cut(model: Model, section: Section) -> Model:
    """Return a model with the row of a cut."""
    most = int(section.head.split()[1])
    return model._replace(rows=[*model.rows, Row(*model.costs, None, most, 1)])


def with_proved(model: Model, section: Section) -> tuple[Model, Fraction]:
    """Return a model with the row or bound that a lemma or bound proves, and what is proved.

    Raises
    ------
    ValueError
        If it proves nothing.
    """
    form = section.form
    bound = proved(model._replace(costs=form), ["tree", *section.lines])
    if bound is None:
        raise ValueError("a lemma about nothing")
    if section.kind == "bound":
        box = Box(model, [])
        box.tighten(form, bound)
        return model._replace(lower=box.lower, upper=box.upper), bound
    below = bound.denominator
    row = Row(form[0], [a * below for a in form[1]], bound.numerator, None, below)
    return model._replace(rows=[*model.rows, row]), bound
