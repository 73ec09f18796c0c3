"""Exact models as AMPL's .nl files in text form, their names in .col and .row files beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.reading.decimals import Exact
from gadgetopt.proofs.reading.draft import NamedModel
from gadgetopt.proofs.reading.writing.adapting import Layout
from gadgetopt.proofs.reading.writing.decimals import decimal
from gadgetopt.proofs.reading.writing.names import held_by_nl

#: What .nl files with names beside them hold.
NL = Layout(held_by_nl, two_sided=True)


class NlFiles(NamedTuple):
    """The lines of an .nl file, and of the .col and .row files beside it."""

    lines: list[str]
    columns: list[str]
    rows: list[str]


def nl(named: NamedModel) -> NlFiles:
    """Return the files of an adapted model: continuous columns, then binary ones, then integers.

    Parameters
    ----------
    named : NamedModel
        As `adapted` leaves it for the layout `NL`.

    Raises
    ------
    ModelRefused
        If a number has more digits than readers take.
    """
    model = named.model
    kinds = [_kind(model, j) for j in range(len(model.integer))]
    order = sorted(range(len(kinds)), key=kinds.__getitem__)
    counts = [kinds.count(kind) for kind in (1, 2)]
    lines = [*_header(model, counts, "; ".join(named.notes)), *_segments(model, order)]
    return NlFiles(lines, [named.columns[j] for j in order], [*named.rows, "obj"])


def _kind(model: Model, j: int) -> int:
    """Return a column's place in the order: 0 for continuous, 1 for binary, 2 for integer."""
    binary = (model.lower[j], model.upper[j]) == (0, 1)
    return 0 if not model.integer[j] else 1 if binary else 2


def _header(model: Model, integer_counts: Sequence[int], notes: str) -> list[str]:
    rows = model.rows
    equal = sum(row.lower == row.upper for row in rows)
    ranges = sum(None not in (row.lower, row.upper) for row in rows) - equal
    entries = sum(len(row.columns) for row in rows)
    binary, other = integer_counts
    return [
        f"g3 1 1 0\t# {notes or 'problem model'}",
        f" {len(model.integer)} {len(rows)} 1 {ranges} {equal}",
        " 0 0",  # nonlinear rows and objectives
        " 0 0",  # networks
        " 0 0 0",  # nonlinear columns
        " 0 0 0 1",
        f" {binary} {other} 0 0 0",
        f" {entries} {len(model.costs[0])}",
        " 0 0",
        " 0 0 0 0 0",
    ]


def _segments(model: Model, order: Sequence[int]) -> Iterator[str]:
    place = {j: k for k, j in enumerate(order)}
    for i in range(len(model.rows)):
        yield from (f"C{i}", "n0")
    sign = 1 if model.sense == "min" else -1
    yield from (f"O0 {0 if sign > 0 else 1}", f"n{decimal(model.offset)}")
    yield "r"
    for row in model.rows:
        yield _limits(_part(row, row.lower), _part(row, row.upper))
    yield "b"
    for j in order:
        yield _limits(model.lower[j], model.upper[j])
    yield from _column_ends(model, order)
    for i, row in enumerate(model.rows):
        if row.columns:
            yield f"J{i} {len(row.columns)}"
        numbers = {place[j]: a for j, a in zip(row.columns, row.coefficients, strict=True)}
        yield from _terms(numbers, row.denominator)
    costs = {place[j]: sign * a for j, a in zip(*model.costs, strict=True)}
    if costs:
        yield f"G0 {len(costs)}"
    yield from _terms(costs, model.scale)


def _column_ends(model: Model, order: Sequence[int]) -> Iterator[str]:
    """Yield how many entries the columns have up to each but the last."""
    counts = dict.fromkeys(order, 0)
    for row in model.rows:
        for j in row.columns:
            counts[j] += 1
    if order:
        yield f"k{len(order) - 1}"
    total = 0
    for j in order[:-1]:
        total += counts[j]
        yield str(total)


def _terms(numbers: dict[int, int], denominator: int) -> Iterator[str]:
    return (f"{k} {decimal(Fraction(a, denominator))}" for k, a in sorted(numbers.items()))


def _part(row: Row, side: int | None) -> Exact | None:
    return None if side is None else Fraction(side, row.denominator)


def _limits(low: Exact | None, high: Exact | None) -> str:
    if low is None:
        return "3" if high is None else f"1 {decimal(high)}"
    if high is None:
        return f"2 {decimal(low)}"
    return f"4 {decimal(low)}" if low == high else f"0 {decimal(low)} {decimal(high)}"
