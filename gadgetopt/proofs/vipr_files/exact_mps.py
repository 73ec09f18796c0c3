"""An exact model as an MPS file with rationals `p/q`, as exact solvers read them.

Readers of doubles do not take such a file. Columns are x0, x1, ..., rows r0, r1, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from gadgetopt.proofs.model import Model, Row


def exact_mps(model: Model) -> Iterator[str]:
    """Yield the lines of a free MPS file of the minimisation, its constant included."""
    yield "NAME model"
    yield "ROWS"
    yield " N obj"
    rows = list(_named(model.rows))
    for name, row in rows:
        yield f" {_sense(row)} {name}"
    yield "COLUMNS"
    terms: list[list[tuple[str, Fraction]]] = [[] for _ in model.integer]
    for j, a in zip(*model.costs, strict=True):
        terms[j].append(("obj", Fraction(a, model.scale)))
    for name, row in rows:
        for j, a in zip(row.columns, row.coefficients, strict=True):
            terms[j].append((name, Fraction(a, row.denominator)))
    for j, integer in enumerate(model.integer):
        if integer and (j == 0 or not model.integer[j - 1]):
            yield f" M{j} 'MARKER' 'INTORG'"
        if not integer and j > 0 and model.integer[j - 1]:
            yield f" M{j} 'MARKER' 'INTEND'"
        for name, number in terms[j] or [("obj", Fraction(0))]:
            yield f" x{j} {name} {number}"
    if model.integer and model.integer[-1]:
        yield " MEND 'MARKER' 'INTEND'"
    yield "RHS"
    constant = model.offset if model.sense == "min" else -model.offset
    if constant:
        yield f" rhs obj {-constant}"
    ranges = []
    for name, row in rows:
        side = row.upper if row.lower is None else row.lower
        if side:
            yield f" rhs {name} {Fraction(side, row.denominator)}"
        if row.lower is not None and row.upper is not None and row.lower != row.upper:
            ranges.append(f" rng {name} {Fraction(row.upper - row.lower, row.denominator)}")
    if ranges:
        yield "RANGES"
        yield from ranges
    yield "BOUNDS"
    for j, (low, high) in enumerate(zip(model.lower, model.upper, strict=True)):
        yield f" MI bnd x{j}" if low is None else f" LO bnd x{j} {low}"
        yield f" PL bnd x{j}" if high is None else f" UP bnd x{j} {high}"
    yield "ENDATA"


def _named(rows: Sequence[Row]) -> Iterator[tuple[str, Row]]:
    """Yield the rows with their names; one whose sides cross as two, as no range says so."""
    for i, row in enumerate(rows):
        if row.lower is not None and row.upper is not None and row.lower > row.upper:
            yield f"r{i}", row._replace(upper=None)
            yield f"r{i}L", row._replace(lower=None)
        else:
            yield f"r{i}", row


def _sense(row: Row) -> str:
    if row.lower is None:
        return "N" if row.upper is None else "L"
    return "E" if row.lower == row.upper else "G"
