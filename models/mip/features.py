"""Features of an instance: what its columns and rows are, and how far its numbers are apart."""

from __future__ import annotations

import math
from collections import Counter

from gadgetopt.proofs.model import Model, Row

from .instance import MipInstance


def features(instance: MipInstance) -> dict[str, float]:
    """Return shares of kinds of columns and rows, density and the range of the coefficients.

    - `binary_share`, `continuous_share`: of the columns; other integers are the rest.
    - `unbounded_share`: of the columns, those that lack a bound.
    - `density`: share of entries that are not 0.
    - `coefficient_digits`: decimal digits between the least and the largest coefficient of a row,
      in the row where they are farthest apart.
    - `equality_share`: of the rows.
    - `set_share`: of the rows, those that cover, pack or partition a set of binaries.
    - `knapsack_share`: of the rows, other knapsacks over integers.
    - `variable_bound_share`: of the rows, those with an integer and a continuous column.
    - `flow_share`: of the rows, those over continuous columns alone.
    """
    model = instance.exact
    columns, rows = len(model.integer), len(model.rows)
    binary = _binary(model)
    kinds = Counter(row_classes(model))
    entries = sum(len(row.columns) for row in model.rows)
    unbounded = sum(None in ends for ends in zip(model.lower, model.upper, strict=True))
    return {
        "binary_share": _share(sum(binary), columns),
        "continuous_share": _share(columns - sum(model.integer), columns),
        "unbounded_share": _share(unbounded, columns),
        "density": _share(entries, rows * columns),
        "coefficient_digits": max(map(_digits, model.rows), default=0.0),
        "equality_share": _share(sum(_is_equality(row) for row in model.rows), rows),
        "set_share": _share(kinds["set"], rows),
        "knapsack_share": _share(kinds["knapsack"], rows),
        "variable_bound_share": _share(kinds["variable bound"], rows),
        "flow_share": _share(kinds["flow"], rows),
    }


def row_classes(model: Model) -> list[str]:
    """Return the class of each row: "set", "knapsack", "variable bound", "flow", or ""."""
    binary = _binary(model)
    return [_kind(model, binary, row) for row in model.rows]


def _binary(model: Model) -> list[bool]:
    ends = zip(model.integer, model.lower, model.upper, strict=True)
    return [whole and low == 0 and high == 1 for whole, low, high in ends]


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _is_equality(row: Row) -> bool:
    return row.lower is not None and row.lower == row.upper


def _digits(row: Row) -> float:
    sizes = [abs(a) for a in row.coefficients]
    return math.log10(max(sizes)) - math.log10(min(sizes)) if sizes else 0.0


def _kind(model: Model, binary: list[bool], row: Row) -> str:
    """Return the class of a row, "" for one that is none of those that are counted."""
    whole = [model.integer[j] for j in row.columns]
    if not whole:
        return ""
    if not any(whole):
        return "flow"
    if not all(whole):
        return "variable bound" if len(whole) == 2 else ""
    unit = row.coefficients[0]
    sides = {side for side in (row.lower, row.upper) if side is not None}
    if all(binary[j] for j in row.columns) and sides == {unit} and set(row.coefficients) == sides:
        return "set"
    one_sign = all(a > 0 for a in row.coefficients) or all(a < 0 for a in row.coefficients)
    return "knapsack" if one_sign and len(sides) == 1 else ""
