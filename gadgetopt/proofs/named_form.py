"""An exact model with names as arrays for solvers, its exact numbers beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.sparse import csr_array

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.solvers.exact_form import ExactParts, ExactReader, ExactRow, Side
from gadgetopt.solvers.linear_terms import LARGEST_EXACT, Exact
from gadgetopt.solvers.standard_form import Named, StandardForm
from gadgetopt.system.declaration import Sense

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Model, Row
    from gadgetopt.proofs.reading.draft import NamedModel


def standard_form(named: NamedModel) -> StandardForm:
    """Return the form of a model; `exact_model` makes the same model of it again."""
    return form_of(named.model, named.columns, named.rows)


def form_of(model: Model, columns: Sequence[str], rows: Sequence[str]) -> StandardForm:
    """Return the form of a model with the names of its columns and rows, as `standard_form`."""
    sign = 1 if model.sense == "min" else -1
    costs: dict[int, Exact] = {
        j: _simplest(Fraction(sign * a, model.scale)) for j, a in zip(*model.costs, strict=True)
    }
    c = np.zeros(len(model.integer))
    c[list(costs)] = [float(x) for x in costs.values()]
    starts = np.cumsum([0, *(len(row.columns) for row in model.rows)])
    entries = [_float(a, row.denominator) for row in model.rows for a in row.coefficients]
    indices = [j for row in model.rows for j in row.columns]
    exact_rows = {i: _exact_row(row) for i, row in enumerate(model.rows) if not _is_plain(row)}
    return StandardForm(
        columns=[Named(name) for name in columns],
        col_lower=_ends(model.lower, -np.inf),
        col_upper=_ends(model.upper, np.inf),
        integer=np.array(model.integer, dtype=bool),
        c=c,
        offset=float(model.offset),
        sense=cast("Sense", model.sense),
        A=csr_array(
            (np.array(entries), np.array(indices, dtype=np.int32), starts),
            shape=(len(model.rows), len(model.integer)),
        ),
        row_lower=_ends([_side(row.lower, row) for row in model.rows], -np.inf),
        row_upper=_ends([_side(row.upper, row) for row in model.rows], np.inf),
        rows=[Named(name) for name in rows],
        unused=[],
        exact=ExactParts(
            rows=exact_rows,
            costs=costs,
            offset=_simplest(Fraction(model.offset)),
            col_lower={j: x for j, x in enumerate(model.lower) if x is not None},
            col_upper={j: x for j, x in enumerate(model.upper) if x is not None},
        ),
    )


def named_model(form: StandardForm) -> NamedModel:
    """Return the exact model of a form with the names of its columns and rows.

    Raises
    ------
    ModelRefused
        If a number is known only as a double that may have been rounded.
    """
    from gadgetopt.proofs.exact_model import exact_model
    from gadgetopt.proofs.reading.draft import NamedModel

    reader = ExactReader(form)
    for i, row in enumerate(map(reader.row, range(len(form.rows)))):
        if any(isinstance(side, float) and math.isfinite(side) for side in (row.lower, row.upper)):
            raise ModelRefused(f"{form.rows[i].name}: a side has too many digits for a double")
    for j in range(len(form.columns)):
        reader.bounds(j)
    names = [str(column.name) for column in form.columns]
    return NamedModel(exact_model(form), names, [str(row.name) for row in form.rows], [])


def _is_plain(row: Row) -> bool:
    """Return True if a row holds only integers that doubles hold exactly."""
    numbers = (*row.coefficients, row.lower or 0, row.upper or 0)
    return row.denominator == 1 and all(-LARGEST_EXACT < x < LARGEST_EXACT for x in numbers)


def _exact_row(row: Row) -> ExactRow:
    numbers = [_simplest(Fraction(a, row.denominator)) for a in row.coefficients]
    low, high = _side(row.lower, row), _side(row.upper, row)
    lower: Side = -np.inf if low is None else low
    upper: Side = np.inf if high is None else high
    return ExactRow(list(row.columns), numbers, lower, upper)


def _side(side: int | None, row: Row) -> Exact | None:
    return None if side is None else _simplest(Fraction(side, row.denominator))


def _float(a: int, denominator: int) -> float:
    return float(a) if denominator == 1 else float(Fraction(a, denominator))


def _ends(ends: Sequence[Exact | None], missing: float) -> Floats:
    return np.array([missing if x is None else float(x) for x in ends])


def _simplest(x: Fraction) -> Exact:
    return x.numerator if x.denominator == 1 else x
