"""A model while it is read, and the exact model that it is in the end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.reading.decimals import Exact
from gadgetopt.proofs.reading.text import Unreadable

#: What an upper bound below 0 without a lower bound means: solvers differ.
NegativeUp = Literal["refused", "free", "zero"]


class NamedModel(NamedTuple):
    """An exact model with the names of its columns and rows.

    Attributes
    ----------
    model : Model
    columns, rows : list of str
        Distinct names, in the model's order.
    notes : list of str
        What was chosen where a file leaves it open.
    """

    model: Model
    columns: list[str]
    rows: list[str]
    notes: list[str]


@dataclass
class Column:
    """A column: its bounds where the file gives them (`math.inf` for a missing one), else None."""

    name: str
    integer: bool = False
    lower: Exact | float | None = None
    upper: Exact | float | None = None

    def set_lower(self, value: Exact | float) -> None:
        """Give the lower bound, which must not have been given."""
        if self.lower is not None:
            raise Unreadable(f"column {self.name!r} has a second lower bound")
        if value == math.inf:
            raise Unreadable(f"column {self.name!r} has the lower bound infinity")
        self.lower = value

    def set_upper(self, value: Exact | float) -> None:
        """Give the upper bound, which must not have been given."""
        if self.upper is not None:
            raise Unreadable(f"column {self.name!r} has a second upper bound")
        if value == -math.inf:
            raise Unreadable(f"column {self.name!r} has the upper bound -infinity")
        self.upper = value


@dataclass
class DraftRow:
    """A row: distinct columns, a number for each, sides or None."""

    name: str
    columns: list[int] = field(default_factory=list)
    values: list[Exact] = field(default_factory=list)
    lower: Exact | None = None
    upper: Exact | None = None


class Draft:
    """Columns, rows and costs of a model, in the order of its file."""

    def __init__(self) -> None:
        self.sense = "min"
        self.columns: list[Column] = []
        self.index: dict[str, int] = {}
        self.rows: list[DraftRow] = []
        self.costs: dict[int, Exact] = {}
        self.offset: Exact = 0
        self.notes: list[str] = []

    def add_column(self, name: str) -> int:
        """Add a column of a new name, and return its index."""
        self.index[name] = len(self.columns)
        self.columns.append(Column(name))
        return len(self.columns) - 1

    def column(self, name: str) -> Column:
        """Return the column of a name, a new one if there is none."""
        return self.columns[self.column_index(name)]

    def column_index(self, name: str) -> int:
        """Return the index of the column of a name, of a new one if there is none."""
        known = self.index.get(name)
        return self.add_column(name) if known is None else known

    def named_model(self, negative_up: NegativeUp) -> NamedModel:
        """Return the model.

        Raises
        ------
        Unreadable
            If a name is there twice, or an upper bound is below 0 without a lower one.
        """
        names = [row.name for row in self.rows]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise Unreadable(f"there are two rows of the name {twice!r}")
        ends = [_ends(column, negative_up) for column in self.columns]
        costs, scale = over_one_denominator(self.costs)
        sign = 1 if self.sense == "min" else -1
        model = Model(
            integer=[column.integer for column in self.columns],
            lower=[low for low, _ in ends],
            upper=[high for _, high in ends],
            rows=[_model_row(row) for row in self.rows],
            costs=(list(costs), [sign * a for a in costs.values()]),
            scale=scale,
            offset=self.offset,
            sense=self.sense,
        )
        return NamedModel(model, [column.name for column in self.columns], names, self.notes)


def _ends(column: Column, negative_up: NegativeUp) -> tuple[Exact | None, Exact | None]:
    low, high = column.lower, column.upper
    if low is None:
        low = 0
        if high is not None and high < 0:
            if negative_up == "refused":
                raise Unreadable(
                    f"column {column.name!r} has an upper bound below 0 and no lower bound, which "
                    "solvers read differently: give it a lower bound, or say "
                    "negative_up=free or negative_up=zero"
                )
            low = -math.inf if negative_up == "free" else 0
    lower = None if isinstance(low, float) else low
    upper = None if high is None or isinstance(high, float) else high
    if column.integer:
        lower = None if lower is None else math.ceil(lower)
        upper = None if upper is None else math.floor(upper)
    return lower, upper


def _model_row(row: DraftRow) -> Row:
    order = sorted((j, a) for j, a in zip(row.columns, row.values, strict=True) if a)
    numbers = [a for _, a in order]
    sides = [side for side in (row.lower, row.upper) if side is not None]
    if all(type(x) is int for x in numbers) and all(type(x) is int for x in sides):
        denominator = 1
    else:
        denominator = math.lcm(*(x.denominator for x in (*numbers, *sides)))

    def scaled(x: Exact) -> int:
        return x.numerator * (denominator // x.denominator)

    return Row(
        [j for j, _ in order],
        [scaled(a) for a in numbers],
        None if row.lower is None else scaled(row.lower),
        None if row.upper is None else scaled(row.upper),
        denominator,
    )


def over_one_denominator(numbers: Mapping[int, Exact]) -> tuple[dict[int, int], int]:
    """Return numbers that are not zero as integers over their least common denominator, sorted."""
    scale = math.lcm(*(a.denominator for a in numbers.values()))
    scaled = {j: a.numerator * (scale // a.denominator) for j, a in sorted(numbers.items()) if a}
    return scaled, scale
