"""Constraints as VIPR files have them, and those that a model consists of."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Model

Terms = dict[int, Fraction]
SIGNS = {"G": 1, "E": 0, "L": -1}


class Line(NamedTuple):
    """`terms >= side` for the sense 1, `<=` for -1, `=` for 0; and the assumptions it rests on."""

    sense: int
    side: Fraction
    terms: Terms
    assumed: frozenset[int] = frozenset()

    def is_false(self) -> bool:
        """Return True if no point satisfies it."""
        wrong = {1: self.side > 0, 0: self.side != 0, -1: self.side < 0}
        return not self.terms and wrong[self.sense]

    def implies(self, other: Line) -> bool:
        """Return True if it is false or the same with a side that is at least as strong."""
        if self.is_false():
            return True
        if self.terms != other.terms or self.sense not in (0, other.sense):
            return False
        return (self.side - other.side) * other.sense >= 0 and (
            other.sense != 0 or self.side == other.side
        )

    def holds_at(self, point: Terms) -> bool:
        """Return True if a point satisfies it; columns that are not named are 0."""
        gap = sum((a * point.get(j, 0) for j, a in self.terms.items()), -self.side)
        return gap == 0 if self.sense == 0 else gap * self.sense >= 0


def as_bound(line: Line) -> tuple[int, int, Fraction] | None:
    """Return column, sense and value of a bound on one column."""
    if len(line.terms) != 1:
        return None
    ((j, a),) = line.terms.items()
    return j, line.sense if a > 0 else -line.sense, line.side / a


def parts(line: Line) -> list[Line]:
    """Return an equation as its two sides."""
    return [line] if line.sense else [line._replace(sense=1), line._replace(sense=-1)]


def key(line: Line) -> tuple[Fraction, frozenset[tuple[int, Fraction]]]:
    """Return what is equal for constraints that differ by a positive factor."""
    factor = Fraction(line.sense) / max(map(abs, line.terms.values()))
    return line.side * factor, frozenset((j, a * factor) for j, a in line.terms.items())


def constraints_of(model: Model) -> Iterator[tuple[str, Line]]:
    """Yield the bounds and the sides of the rows of a model, each with what it is."""
    for j, sides in enumerate(zip(model.lower, model.upper, strict=True)):
        for sense, side in zip((1, -1), sides, strict=True):
            if side is not None:
                yield f"a bound of column {j}", Line(sense, Fraction(side), {j: Fraction(1)})
    for i, row in enumerate(model.rows):
        pairs = zip(row.columns, row.coefficients, strict=True)
        terms = {j: Fraction(a) for j, a in pairs if a}
        for sense, side in zip((1, -1), (row.lower, row.upper), strict=True):
            if side is not None:
                yield f"row {i}", Line(sense, Fraction(side), terms)
