"""Translation of an integer form to a CP-SAT model: exact, or a relaxation on request."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from gadgetopt.errors import ModelRefused
from gadgetopt.solvers.compiler import TriviallyInfeasibleError
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.solvers.to_cpsat.integer_form import IntegerForm, IntegerRow

Scaling = Literal["exact", "outward"]

#: CP-SAT computes with 64-bit integers. No term, sum or right-hand side may exceed this.
#: By definition.
LARGEST = 2**61


@dataclass(frozen=True)
class Translation:
    """A CP-SAT model of an integer form, always a minimisation.

    Attributes
    ----------
    model : CpModel
    variables : list of IntVar
        One per column.
    exact : bool
        False if a row or the objective was relaxed. Then solutions of `model` may violate the
        original rows, while its infeasibility and its bound remain valid.
    bound_unit, bound_constant : Fraction
        `bound_constant + bound_unit * b` bounds the form's `sum(costs * x)` where b bounds the
        objective of `model`.
    """

    model: Any
    variables: list[Any]
    exact: bool
    bound_unit: Fraction
    bound_constant: Fraction


def translate(form: IntegerForm, scaling: Scaling = "exact") -> Translation:
    """Write an integer form whose columns all have finite bounds as a CP-SAT model.

    Parameters
    ----------
    form : IntegerForm
    scaling : "exact" or "outward"
        How to treat rows and objectives whose integers do not fit into 64 bits: refuse them, or
        relax them by rounding coefficients to fewer digits without losing a solution.

    Raises
    ------
    ModelRefused
        If a row, the objective or a bound does not fit into 64 bits and may not be relaxed.
    TriviallyInfeasibleError
        If a row obviously has no solution.
    """
    model = cp_model.CpModel()
    lower, upper, largest = [], [], []
    for name, low, high in zip(form.names, form.lower, form.upper, strict=True):
        if low is None or high is None:
            raise ModelRefused(f"{name} has no finite bounds; CP-SAT needs them")
        if max(-low, high) > LARGEST:
            raise ModelRefused(f"{name}: its bounds [{low}, {high}] do not fit into 64 bits")
        lower.append(low)
        upper.append(high)
        largest.append(max(-low, low, -high, high))
    pairs = zip(lower, upper, strict=True)
    variables = [model.new_int_var(low, high, "") for low, high in pairs]
    binary = [low >= 0 and high <= 1 for low, high in zip(lower, upper, strict=True)]
    exact = True
    for row in form.rows:
        size = _size(row.columns, row.coefficients, largest)
        if size <= LARGEST:
            _add_row(model, variables, binary, _clamped(row, size))
        elif scaling == "outward":
            exact = False
            for relaxed in _relaxed(row, lower, largest):
                _add_row(model, variables, binary, relaxed)
        else:
            raise ModelRefused(
                f"{row.name}: scaled to integers, its terms can exceed 64 bits; use rounder "
                "coefficients or tighter bounds, or ask for scaling='outward' to get a bound"
            )
    columns, costs = list(form.costs), list(form.costs.values())
    unit, constant = Fraction(1), Fraction(0)
    if _size(columns, costs, largest) > LARGEST:
        if scaling != "outward":
            raise ModelRefused(
                "the objective, scaled to integers, can exceed 64 bits; use rounder coefficients "
                "or tighter bounds, or ask for scaling='outward' to get a bound"
            )
        exact = False
        scale = _scale("the objective", columns, costs, largest)
        rounded = [math.floor(scale * c) for c in costs]
        # c x = c l + c (x - l) >= c l + rounded (x - l) / scale, as x - l >= 0.
        unit = 1 / scale
        constant = sum(
            ((c - r * unit) * lower[j] for j, c, r in zip(columns, costs, rounded, strict=True)),
            Fraction(0),
        )
        costs = rounded
    if columns:
        terms = [variables[j] for j in columns]
        model.minimize(cp_model.LinearExpr.weighted_sum(terms, costs))
    return Translation(model, variables, exact, unit, constant)


def _size(columns: list[int], coefficients: list[int], largest: list[int]) -> int:
    """Return the largest absolute value that the terms or a coefficient can reach together."""
    terms = sum(abs(a) * largest[j] for j, a in zip(columns, coefficients, strict=True))
    return max(terms, max(map(abs, coefficients), default=0))


def _clamped(row: IntegerRow, size: int) -> IntegerRow:
    """Return `row` without the sides that a sum of at most `size` cannot reach."""
    if (row.upper or 0) < -size or (row.lower or 0) > size:
        raise TriviallyInfeasibleError(f"{row.name}: no values within the bounds satisfy it")
    return replace(
        row,
        lower=None if row.lower is not None and row.lower < -size else row.lower,
        upper=None if row.upper is not None and row.upper > size else row.upper,
    )


def _add_row(model: Any, variables: list[Any], binary: list[bool], row: IntegerRow) -> None:
    if all(a in (1, -1) for a in row.coefficients) and all(binary[j] for j in row.columns):
        negative = row.coefficients.count(-1)
        size = len(row.columns)
        literals = [
            variables[j] if a == 1 else variables[j].Not()
            for j, a in zip(row.columns, row.coefficients, strict=True)
        ]
        # A negated literal counts 1 - x instead of -x.
        least = 0 if row.lower is None else max(0, row.lower + negative)
        most = size if row.upper is None else min(size, row.upper + negative)
        if least > most:
            raise TriviallyInfeasibleError(f"{row.name}: no 0/1 values satisfy it")
        if _add_clause(model, literals, least, most):
            return
        if _add_clause(model, [x.Not() for x in literals], size - most, size - least):
            return
    low = cp_model.INT_MIN if row.lower is None else row.lower
    high = cp_model.INT_MAX if row.upper is None else row.upper
    terms = [variables[j] for j in row.columns]
    expression = cp_model.LinearExpr.weighted_sum(terms, row.coefficients)
    model.add_linear_constraint(expression, low, high)


def _add_clause(model: Any, literals: list[Any], least: int, most: int) -> bool:
    """Add `least <= sum(literals) <= most` as a logical constraint, if it is one."""
    at_least_one, unlimited = least == 1, most == len(literals)
    if least == 0 and unlimited:
        return True
    if at_least_one and most == 1:
        model.add_exactly_one(literals)
    elif least == 0 and most == 1:
        model.add_at_most_one(literals)
    elif at_least_one and unlimited:
        model.add_bool_or(literals)
    else:
        return False
    return True


def _scale(name: str, columns: list[int], coefficients: list[int], largest: list[int]) -> Fraction:
    """Return the largest power of two that makes the rounded terms fit into 64 bits."""
    # Rounding adds less than one to each coefficient, and the row moves by as much at the bounds.
    rounding = sum(largest[j] for j in columns)
    room = LARGEST // 2 - rounding
    if room <= 0:
        raise ModelRefused(f"{name}: its variables' bounds are too wide for 64 bits")
    size = max(1, _size(columns, coefficients, largest))
    exponent = math.floor(math.log2(room)) - math.ceil(math.log2(size))
    return Fraction(2) ** exponent


def _relaxed(row: IntegerRow, lower: list[int], largest: list[int]) -> list[IntegerRow]:
    """Return rows with fewer digits that every solution of `row` satisfies.

    With x = l + z and z >= 0, rounding coefficients down only makes the left side of
    `a z <= u - a l` smaller, and the smaller side is an integer; mirrored for >=.
    """
    scale = _scale(row.name, row.columns, row.coefficients, largest)
    shift = sum(a * lower[j] for j, a in zip(row.columns, row.coefficients, strict=True))
    relaxed = []
    if row.upper is not None:
        rounded = [math.floor(scale * a) for a in row.coefficients]
        back = sum(a * lower[j] for j, a in zip(row.columns, rounded, strict=True))
        side = math.floor(scale * (row.upper - shift)) + back
        relaxed.append(IntegerRow(row.name, row.columns, rounded, None, side))
    if row.lower is not None:
        rounded = [math.ceil(scale * a) for a in row.coefficients]
        back = sum(a * lower[j] for j, a in zip(row.columns, rounded, strict=True))
        side = math.ceil(scale * (row.lower - shift)) + back
        relaxed.append(IntegerRow(row.name, row.columns, rounded, side, None))
    return [_clamped(r, LARGEST) for r in relaxed]
