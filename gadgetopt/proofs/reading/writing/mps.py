"""Exact models as free MPS files, of decimals or, for exact solvers, of rationals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.reading.decimals import Exact
from gadgetopt.proofs.reading.draft import NamedModel
from gadgetopt.proofs.reading.writing.adapting import Layout
from gadgetopt.proofs.reading.writing.decimals import decimal
from gadgetopt.proofs.reading.writing.names import held_by_mps, unlike

#: What MPS files hold.
MPS = Layout(held_by_mps, two_sided=True)


def mps(named: NamedModel, number: Callable[[Exact], str] = decimal) -> Iterator[str]:
    """Yield the lines of an MPS file of an adapted model, its notes as comments.

    Parameters
    ----------
    named : NamedModel
        As `adapted` leaves it for the layout `MPS`.
    number : callable
        How numbers are written.

    Raises
    ------
    ModelRefused
        If a number has more digits than readers take.
    """
    yield from (f"* {note}" for note in named.notes)
    model, rows = named.model, list(zip(named.rows, named.model.rows, strict=True))
    objective = unlike("obj", set(named.rows))
    yield "NAME model"
    if model.sense == "max":
        yield from ("OBJSENSE", "    MAX")
    yield "ROWS"
    yield f" N {objective}"
    for name, row in rows:
        yield f" {_kind(row)} {name}"
    yield "COLUMNS"
    yield from _columns(named, objective, number)
    yield "RHS"
    if model.offset:
        yield f" rhs {objective} {number(-model.offset)}"
    for name, row in rows:
        side = row.upper if row.lower is None else row.lower
        if side:
            yield f" rhs {name} {number(Fraction(side, row.denominator))}"
    wide = [(name, row) for name, row in rows if _kind(row) == "G" and row.upper is not None]
    if wide:
        yield "RANGES"
    for name, row in wide:
        width = (row.upper or 0) - (row.lower or 0)
        yield f" rng {name} {number(Fraction(width, row.denominator))}"
    yield "BOUNDS"
    bounds = unlike("bnd", set(named.columns))
    for j, name in enumerate(named.columns):
        yield from (
            f" {kind} {bounds} {name}" + ("" if x is None else f" {number(x)}")
            for kind, x in _bounds(model, j)
        )
    yield "ENDATA"


def rational_mps(model: Model) -> Iterator[str]:
    """Yield the lines of an MPS file with rationals `p/q`, which exact solvers read and others not.

    It is of the minimisation that a model is, its constant included, with columns x0, x1, ... and
    rows r0, r1, ...; a row whose sides cross is two, as no range says so, the second with an L.
    """
    rows = list(_numbered(model.rows))
    offset = model.offset if model.sense == "min" else -model.offset
    minimised = model._replace(rows=[row for _, row in rows], offset=offset, sense="min")
    columns = [f"x{j}" for j in range(len(model.integer))]
    yield from mps(NamedModel(minimised, columns, [name for name, _ in rows], []), str)


def _numbered(rows: Sequence[Row]) -> Iterator[tuple[str, Row]]:
    """Yield the rows that have a side with their names."""
    for i, row in enumerate(rows):
        if row.lower is not None and row.upper is not None and row.lower > row.upper:
            yield f"r{i}", row._replace(upper=None)
            yield f"r{i}L", row._replace(lower=None)
        elif row.lower is not None or row.upper is not None:
            yield f"r{i}", row


def _kind(row: Row) -> str:
    if row.lower is None:
        return "L"
    return "E" if row.lower == row.upper else "G"


def _columns(named: NamedModel, objective: str, number: Callable[[Exact], str]) -> Iterator[str]:
    """Yield the entries by column, integer columns between markers."""
    model = named.model
    sign = 1 if model.sense == "min" else -1
    entries: list[list[tuple[str, Fraction]]] = [[] for _ in model.integer]
    for j, a in zip(*model.costs, strict=True):
        entries[j].append((objective, Fraction(sign * a, model.scale)))
    for name, row in zip(named.rows, model.rows, strict=True):
        for j, a in zip(row.columns, row.coefficients, strict=True):
            entries[j].append((name, Fraction(a, row.denominator)))
    inside = False
    for j, column in enumerate(named.columns):
        if model.integer[j] != inside:
            inside = model.integer[j]
            yield f" M{j} 'MARKER' {_marker(inside)}"
        for name, value in entries[j] or [(objective, Fraction(0))]:
            yield f" {column} {name} {number(value)}"
    if inside:
        yield f" M{len(named.columns)} 'MARKER' {_marker(False)}"


def _marker(begins: bool) -> str:
    return "'INTORG'" if begins else "'INTEND'"


def _bounds(model: Model, j: int) -> Iterator[tuple[str, Exact | None]]:
    """Yield the kinds and values of a column's bounds; one of integers without any is PL."""
    low, high = model.lower[j], model.upper[j]
    if low is None and high is None:
        yield "FR", None
    elif low is not None and low == high:
        yield "FX", low
    else:
        if low is None:
            yield "MI", None
        elif low != 0 or (high is not None and high <= 0):
            yield "LO", low
        if high is not None:
            yield "UP", high
        elif model.integer[j]:
            yield "PL", None
