"""The relaxed model: what holds for every point that is feasible within a tolerance.

Where no exact point exists near a solver's incumbent, a claim about the relaxed model is still
exact: its objective is that of a point which violates no row by more than the tolerance, and its
bound holds for all such points. Needs the standard library only.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from gadgetopt.proofs.model import Model, Row


def within(model: Model, tolerance: Fraction) -> Model:
    """Return a model whose rows and bounds of continuous columns are moved outwards.

    Parameters
    ----------
    model : Model
    tolerance : Fraction
        By how much, absolutely, as solvers and the checker of MIPLIB mean it. Integer columns keep
        their bounds and stay integers.

    Raises
    ------
    ValueError
        If the tolerance is negative.
    """
    if tolerance < 0:
        raise ValueError(f"{tolerance} is negative")
    lower, upper = (
        [
            x if whole or x is None else _simplest(x + sign * tolerance)
            for x, whole in zip(ends, model.integer, strict=True)
        ]
        for ends, sign in ((model.lower, -1), (model.upper, 1))
    )
    rows = [_row(row, tolerance) for row in model.rows]
    return model._replace(lower=lower, upper=upper, rows=rows)


def _row(row: Row, tolerance: Fraction) -> Row:
    unit = lcm(row.denominator, tolerance.denominator)
    factor, step = unit // row.denominator, int(tolerance * unit)
    return Row(
        row.columns,
        [a * factor for a in row.coefficients],
        None if row.lower is None else row.lower * factor - step,
        None if row.upper is None else row.upper * factor + step,
        unit,
    )


def _simplest(x: int | Fraction) -> int | Fraction:
    return x.numerator if x.denominator == 1 else x
