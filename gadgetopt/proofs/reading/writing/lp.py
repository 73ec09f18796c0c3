"""Exact models as CPLEX LP files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.reading.decimals import Exact
from gadgetopt.proofs.reading.draft import NamedModel
from gadgetopt.proofs.reading.writing.adapting import Layout
from gadgetopt.proofs.reading.writing.decimals import decimal
from gadgetopt.proofs.reading.writing.names import held_by_lp

#: What LP files hold. HiGHS and SCIP read no rows with two sides.
LP = Layout(held_by_lp, two_sided=False)


def lp(named: NamedModel) -> Iterator[str]:
    """Yield the lines of an LP file of an adapted model, a term a line, its notes as comments.

    Parameters
    ----------
    named : NamedModel
        As `adapted` leaves it for the layout `LP`.

    Raises
    ------
    ModelRefused
        If a number has more digits than readers take, or a row has no columns to write it with.
    """
    model, names = named.model, named.columns
    yield from (f"\\ {note}" for note in named.notes)
    yield "Minimize" if model.sense == "min" else "Maximize"
    yield " obj:"
    yield from _terms(_all_costs(model), names)
    if model.offset or not names:
        yield f" {_signed(model.offset)}"
    yield "Subject To"
    for name, row in zip(named.rows, model.rows, strict=True):
        yield f" {name}:"
        yield from _terms(_entries(row, names), names)
        yield f" {_relation(row)}"
    yield "Bounds"
    for j, name in enumerate(names):
        yield from _bound(name, model.lower[j], model.upper[j])
    yield "General"
    yield from (f" {name}" for name, whole in zip(names, model.integer, strict=True) if whole)
    yield "End"


def _all_costs(model: Model) -> Iterator[tuple[int, Exact]]:
    """Yield all columns with their costs, also those of 0: so that their order is kept."""
    sign = 1 if model.sense == "min" else -1
    costs = dict(zip(*model.costs, strict=True))
    for j in range(len(model.integer)):
        yield j, Fraction(sign * costs.get(j, 0), model.scale)


def _entries(row: Row, names: Sequence[str]) -> Iterator[tuple[int, Exact]]:
    if not row.columns and not names:
        raise ModelRefused("a row has no columns, and neither has the model")
    if not row.columns:
        yield 0, 0
    for j, a in zip(row.columns, row.coefficients, strict=True):
        yield j, Fraction(a, row.denominator)


def _terms(terms: Iterable[tuple[int, Exact]], names: Sequence[str]) -> Iterator[str]:
    return (f" {_signed(a)} {names[j]}" for j, a in terms)


def _signed(a: Exact) -> str:
    return f"{'-' if a < 0 else '+'} {decimal(abs(Fraction(a)))}"


def _relation(row: Row) -> str:
    side = row.upper if row.lower is None else row.lower
    relation = "<=" if row.lower is None else ">=" if row.upper is None else "="
    return f"{relation} {decimal(Fraction(side or 0, row.denominator))}"


def _bound(name: str, low: Exact | None, high: Exact | None) -> Iterator[str]:
    if low is None:
        yield f" {name} free" if high is None else f" -inf <= {name} <= {decimal(high)}"
    elif high is None:
        if low != 0:
            yield f" {name} >= {decimal(low)}"
    elif low == high:
        yield f" {name} = {decimal(low)}"
    else:
        yield f" {decimal(low)} <= {name} <= {decimal(high)}"
