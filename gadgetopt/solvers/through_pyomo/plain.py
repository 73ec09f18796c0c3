"""A compiled model as a plain Pyomo model: variables, rows of one linear sum, one objective.

What solvers get is read by the same walk for all of them, and nothing else of the user's model
reaches them: no constants in a row, no parameters, no fixed variables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyomo.environ  # noqa: F401  # registers the solvers' interfaces
from pyomo.core.base import (
    ConcreteModel,
    ConstraintList,
    Integers,
    Objective,
    Reals,
    Var,
    maximize,
    minimize,
)
from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression
from pyomo.core.expr.relational_expr import inequality

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.standard_form import StandardForm
from gadgetopt.system.result import Limits

#: Solvers take numbers of this size for infinite. By definition.
INFINITE = 1e20


@dataclass(frozen=True)
class Plain:
    """A plain model and its variables, one per column of the form that it was made from."""

    model: ConcreteModel
    variables: list[Any]

    def start_from(self, values: Floats) -> None:
        """Give the variables values to start from; NaN leaves one without."""
        for v, x in zip(self.variables, values.tolist(), strict=True):
            if not math.isnan(x):
                v.set_value(x, skip_validation=True)

    def values(self, found: Mapping[Any, float]) -> Floats:
        """Return a solver's values, one per column; a column left out gets that nearest to 0."""
        return np.array([found[v] if v in found else _nearest_zero(v) for v in self.variables])


def plain_model(form: StandardForm) -> Plain:
    """Return a form as a plain Pyomo model.

    Raises
    ------
    ModelRefused
        If a number is so large that solvers take it for infinite.
    """
    _check_size(form)
    m = ConcreteModel()
    m.x = Var(range(len(form.columns)))
    variables = list(m.x.values())
    lower, upper = form.col_lower.tolist(), form.col_upper.tolist()
    for v, low, high, whole in zip(variables, lower, upper, form.integer.tolist(), strict=True):
        v.domain = Integers if whole else Reals
        v.setlb(low if math.isfinite(low) else None)
        v.setub(high if math.isfinite(high) else None)
    m.rows = ConstraintList()
    starts, indices, data = form.A.indptr.tolist(), form.A.indices.tolist(), form.A.data.tolist()
    sides = zip(form.row_lower.tolist(), form.row_upper.tolist(), strict=True)
    for i, (low, high) in enumerate(sides):
        if starts[i] == starts[i + 1]:  # Pyomo takes no row without columns; this one holds
            continue
        span = slice(starts[i], starts[i + 1])
        body = _sum(data[span], [variables[j] for j in indices[span]])
        add_row(m.rows, low, body, high)
    # LP files need a term in the objective.
    priced = np.flatnonzero(form.c).tolist() or [0]
    cost = _sum([form.c[j] for j in priced], [variables[j] for j in priced])
    m.objective = Objective(expr=cost, sense=maximize if form.sense == "max" else minimize)
    return Plain(m, variables)


def told_apart(
    form: StandardForm, outcome: SolverOutcome, limits: Limits, seed: int
) -> SolverOutcome:
    """Return whether a linear model that a solver calls unbounded is that, or infeasible."""
    from gadgetopt.solvers.highs import unbounded_or_infeasible

    told = unbounded_or_infeasible(form, limits, seed)
    return replace(
        told, phases_s=outcome.phases_s, counts=outcome.counts, versions=outcome.versions
    )


def add_row(rows: ConstraintList, low: float, body: Any, high: float) -> None:
    """Add `low <= body <= high`; an infinite side is none."""
    if low == high:
        rows.add(body == low)
    elif math.isfinite(low) and math.isfinite(high):
        rows.add(inequality(low, body, high))
    elif math.isfinite(low):
        rows.add(body >= low)
    elif math.isfinite(high):
        rows.add(body <= high)


def _sum(coefficients: list[float], variables: list[Any]) -> Any:
    pairs = zip(coefficients, variables, strict=True)
    return LinearExpression([MonomialTermExpression((float(a), v)) for a, v in pairs])


def _nearest_zero(v: Any) -> float:
    low, high = v.bounds
    return float(min(max(0, -math.inf if low is None else low), math.inf if high is None else high))


def _check_size(form: StandardForm) -> None:
    far = np.flatnonzero(np.abs(form.A.data) >= INFINITE)
    if far.size:
        row = int(np.searchsorted(form.A.indptr, far[0], side="right")) - 1
        raise ModelRefused(
            f"{form.rows[row].name}: solvers take {form.A.data[far[0]]} for infinite"
        )
    columns, rows = form.columns, form.rows
    for things, bounds in (
        (columns, (form.col_lower, form.col_upper)),
        (rows, (form.row_lower, form.row_upper)),
        (columns, (form.c,)),
    ):
        for numbers in bounds:
            far = np.flatnonzero(np.isfinite(numbers) & (np.abs(numbers) >= INFINITE))
            if far.size:
                i = far[0]
                raise ModelRefused(f"{things[i].name}: solvers take {numbers[i]} for infinite")
