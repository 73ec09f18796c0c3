"""A model as a format can hold it, and what differs from the one that was given."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.reading.decimals import Exact, simplest
from gadgetopt.proofs.reading.draft import Column, Draft, DraftRow, NamedModel
from gadgetopt.proofs.reading.writing.decimals import factor_of, is_plain
from gadgetopt.proofs.reading.writing.names import COLUMN, held_names, unlike


class Layout(NamedTuple):
    """What a format holds: which names, and whether rows with two different sides."""

    holds: Callable[[str], bool]
    two_sided: bool


def adapted(named: NamedModel, layout: Layout) -> NamedModel:
    """Return a model with the same solutions that a format holds; its notes say what differs.

    Where all numbers are finite decimals and all names are held, it is the model as it is, but for
    rows with two sides where the format has none. Else a row is multiplied by a number, and so is
    the objective; a bound becomes a row; a name is replaced; a row without sides is left out.
    """
    return _Adapting(named, layout).adapt()


class _Adapting:
    def __init__(self, named: NamedModel, layout: Layout):
        self.named, self.layout = named, layout
        self.draft = Draft()
        self.notes: list[str] = []
        self.rows = self.held("row", named.rows, "r")
        self.taken = set(self.rows)

    def adapt(self) -> NamedModel:
        """Return the model."""
        model, draft = self.named.model, self.draft
        draft.sense, draft.notes = model.sense, self.notes
        draft.columns = [Column(name) for name in self.held("column", self.named.columns, COLUMN)]
        self.add_objective(model)
        for name, row in zip(self.rows, model.rows, strict=True):
            self.add_row(name, _draft_row(name, row))
        for j, column in enumerate(draft.columns):
            column.integer = model.integer[j]
            column.set_lower(self.bound(j, "lower", model.lower[j], -math.inf))
            column.set_upper(self.bound(j, "upper", model.upper[j], math.inf))
        return draft.named_model("zero")

    def held(self, what: str, names: Sequence[str], letter: str) -> list[str]:
        """Return names that the format holds, and note those that are others."""
        held = held_names(names, self.layout.holds, letter)
        changed = [pair for pair in zip(names, held, strict=True) if pair[0] != pair[1]]
        self.notes += [f"{what} {old!a}: has the name {new}" for old, new in changed]
        return held

    def add_objective(self, model: Model) -> None:
        """Add the costs and the constant, multiplied by one number if they are no decimals."""
        sign = 1 if model.sense == "min" else -1
        costs = [(j, Fraction(sign * a, model.scale)) for j, a in zip(*model.costs, strict=True)]
        factor = factor_of([model.offset, *(a for _, a in costs)])
        if factor != 1:
            self.notes.append(f"objective: multiplied by {factor}")
        self.draft.costs = {j: simplest(a * factor) for j, a in costs}
        self.draft.offset = simplest(model.offset * factor)

    def bound(self, j: int, side: str, value: Exact | None, missing: float) -> Exact | float:
        """Return a bound of a column, none if it is a row in place of that."""
        if value is None or is_plain(value):
            return missing if value is None else value
        name = self.new_row(f"{side}_{j}")
        self.notes.append(f"column {self.draft.columns[j].name}: its {side} bound is row {name}")
        row = DraftRow(name, [j], [1])
        setattr(row, side, value)
        self.add_row(name, row)
        return missing

    def new_row(self, name: str) -> str:
        """Return a name that no row has."""
        name = unlike(name, self.taken)
        self.taken.add(name)
        return name

    def add_row(self, name: str, row: DraftRow) -> None:
        """Add a row, multiplied if it has to be, as two rows if it has to be, or not at all."""
        if row.lower is None and row.upper is None:
            self.notes.append(f"row {name}: has no sides and is left out")
            return
        factor = factor_of(_numbers(row))
        if factor != 1:
            self.notes.append(f"row {name}: multiplied by {factor}")
            row.values = [simplest(a * factor) for a in row.values]
            row.lower = None if row.lower is None else simplest(row.lower * factor)
            row.upper = None if row.upper is None else simplest(row.upper * factor)
        low, high = row.lower, row.upper
        self.draft.rows.append(row)
        if low is None or high is None or low == high or (self.layout.two_sided and low < high):
            return
        second = self.new_row(f"{name}_upper")
        self.notes.append(f"row {name}: has two sides and is the rows {name} and {second}")
        self.draft.rows.append(DraftRow(second, row.columns, row.values, None, high))
        row.upper = None


def _draft_row(name: str, row: Row) -> DraftRow:
    def number(a: int) -> Exact:
        return a if row.denominator == 1 else simplest(Fraction(a, row.denominator))

    sides = [None if side is None else number(side) for side in (row.lower, row.upper)]
    return DraftRow(name, list(row.columns), [number(a) for a in row.coefficients], *sides)


def _numbers(row: DraftRow) -> Iterator[Exact]:
    """Yield the numbers of a row, and the width between its sides, which MPS files state."""
    yield from row.values
    yield from (side for side in (row.lower, row.upper) if side is not None)
    if row.lower is not None and row.upper is not None:
        yield row.upper - row.lower
