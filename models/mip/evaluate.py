r"""The evaluator: objective, rows, bounds and integrality of a point, in rational arithmetic.

.. math::
    \min \text{ or } \max\ c^T x + c_0 \quad\text{so that}\quad
    L \le A x \le U,\ l \le x \le u,\ x_j \in \mathbb{Z}\ \forall j \in I.

There is no tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from gadgetopt.proofs.model import Model, Row
from gadgetopt.system.result import Evaluation, Violation

from .instance import MipInstance, MipSolution

#: A value: an integer where it is one, whose arithmetic is faster.
_Exact = int | Fraction


def evaluate(instance: MipInstance, solution: MipSolution) -> Evaluation:
    """Recompute the objective of a point and list what it violates.

    Returns
    -------
    Evaluation
        The objective is exact; None if the point names columns that the model does not have.
        Components: number of columns that are not 0.
    """
    model = instance.exact
    unknown = tuple(
        Violation("unknown_column", name, 1)
        for name in solution.values
        if name not in instance.index
    )
    if unknown:
        return Evaluation(None, unknown)
    x: list[_Exact] = [0] * len(model.integer)
    for name, value in solution.values.items():
        x[instance.index[name]] = value.numerator if value.denominator == 1 else value
    objective = model.bound(_sum(*model.costs, x))
    return Evaluation(
        objective.numerator if objective.denominator == 1 else objective,
        (*_columns(instance, model, x), *_rows(instance, model, x)),
        {"nonzero": sum(map(bool, x))},
    )


def _columns(instance: MipInstance, model: Model, x: Sequence[_Exact]) -> Iterator[Violation]:
    ends = zip(instance.columns, x, model.integer, model.lower, model.upper, strict=True)
    for name, value, integer, lower, upper in ends:
        if integer and isinstance(value, Fraction):
            yield Violation("integrality", name, abs(value - round(value)))
        if lower is not None and value < lower:
            yield Violation("lower_bound", name, lower - value)
        if upper is not None and value > upper:
            yield Violation("upper_bound", name, value - upper)


def _rows(instance: MipInstance, model: Model, x: Sequence[_Exact]) -> Iterator[Violation]:
    for name, row in zip(instance.rows, model.rows, strict=True):
        excess = _excess(row, x)
        if excess:
            yield Violation("row", name, Fraction(excess, row.denominator))


def _excess(row: Row, x: Sequence[_Exact]) -> _Exact:
    """Return how far a row is from its sides, in units of its denominator."""
    total = _sum(row.columns, row.coefficients, x)
    if row.lower is not None and total < row.lower:
        return row.lower - total
    if row.upper is not None and total > row.upper:
        return total - row.upper
    return 0


def _sum(columns: Sequence[int], coefficients: Sequence[int], x: Sequence[_Exact]) -> _Exact:
    total: _Exact = 0
    for j, a in zip(columns, coefficients, strict=True):
        total += a * x[j]
    return total
