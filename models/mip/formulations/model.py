r"""The instance as it is: its own columns, rows and numbers.

.. math::
    \min \text{ or } \max\ & c^T x + c_0                                      \tag{M1} \\
    & L \le A x \le U                                                         \tag{M2} \\
    & l \le x \le u, \quad x_j \in \mathbb{Z}\ \forall j \in I                \tag{M3}

Solvers get the arrays of the exact model, and certificates its exact numbers (`form`); the Pyomo
model is for other uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.proofs.model import Row
from gadgetopt.proofs.named_form import standard_form
from gadgetopt.solvers.standard_form import StandardForm
from gadgetopt.system.declaring import formulation

from ..instance import MipInstance, MipSolution, solution_of


@formulation(
    model_class="MILP",
    equations="(M1)-(M3)",
    backends=("highs", "cpsat", "scip"),
    form="form",
)
def build(instance: MipInstance) -> pyo.ConcreteModel:
    """The model as it is."""
    model = instance.exact
    m = pyo.ConcreteModel("model")
    m.x = pyo.Var(list(instance.columns), doc="(M3)")
    for name, whole, low, high in zip(
        instance.columns, model.integer, model.lower, model.upper, strict=True
    ):
        column = m.x[name]
        column.domain = pyo.Integers if whole else pyo.Reals
        column.setlb(None if low is None else coefficient(low))
        column.setub(None if high is None else coefficient(high))
    x = [m.x[name] for name in instance.columns]
    rows = dict(zip(instance.rows, model.rows, strict=True))

    @m.Constraint(list(instance.rows), doc="(M2)")
    def row(m: Any, name: str) -> Any:
        return _row(rows[name], x)

    sign = 1 if model.sense == "min" else -1
    costs = zip(*model.costs, strict=True)
    m.objective = pyo.Objective(
        expr=coefficient(model.offset)
        + sum(coefficient(Fraction(sign * a, model.scale)) * x[j] for j, a in costs),
        sense=pyo.minimize if model.sense == "min" else pyo.maximize,
        doc="(M1)",
    )
    return m


def form(instance: MipInstance) -> StandardForm:
    """Return the arrays and exact numbers of an instance."""
    return standard_form(instance.named)


def decode(values: Sequence[Fraction], instance: MipInstance) -> MipSolution:
    """Return the solution that values of the columns are."""
    return solution_of(values, instance)


def _row(row: Row, x: Sequence[Any]) -> Any:
    """Return a row as a constraint; Pyomo takes none without columns."""
    pairs = zip(row.columns, row.coefficients, strict=True)
    body = sum(coefficient(Fraction(a, row.denominator)) * x[j] for j, a in pairs)
    sides = (row.lower, row.upper)
    low, high = (None if s is None else coefficient(Fraction(s, row.denominator)) for s in sides)
    if not row.columns:
        holds = (row.lower or 0) <= 0 <= (row.upper or 0)
        return pyo.Constraint.Skip if holds else pyo.Constraint.Infeasible
    if low is None and high is None:
        return pyo.Constraint.Skip
    return pyo.inequality(low, body, high) if low != high else body == low
