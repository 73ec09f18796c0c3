r"""The knapsack on paper and in Pyomo.

Sets: groups i, items c of group i, rows r. Parameters: profits :math:`\pi_{ic}`, weights
:math:`a^r_{ic}`, capacities :math:`C^r`. Variables: :math:`y_{ic} = 1` if item c is chosen of group
i.

.. math::
    \max\ & \sum_{i,c} \pi_{ic} y_{ic}                                        \tag{K1} \\
    & \sum_{i,c} a^r_{ic} y_{ic} \le C^r          \quad \forall r             \tag{K2} \\
    & \sum_c y_{ic} \le 1 \text{ (or } = 1\text{)} \quad \forall i            \tag{K3} \\
    & y_{ic} \in \{0, 1\}                                                     \tag{K4}

`lp_relaxation` has :math:`0 \le y_{ic} \le 1` instead of (K4). An optimal basic solution of it has
at most as many fractional groups as there are rows. For a group of one item, the bound of its
variable replaces (K3), unless the item must be chosen.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.pyomo_numbers import coefficient, coefficients
from gadgetopt.system.declaring import formulation

from ..instance import KnapsackInstance, KnapsackSolution

Exact = int | Fraction


@formulation(model_class="ILP", equations="(K1)-(K4)", backends=("highs", "cpsat"))
def build(instance: KnapsackInstance) -> pyo.ConcreteModel:
    """A binary variable for every item."""
    return _model(instance, pyo.Binary)


@formulation(name="lp_relaxation", model_class="LP", strength="relaxation", equations="(K1)-(K3)")
def build_relaxation(instance: KnapsackInstance) -> pyo.ConcreteModel:
    """Linear relaxation: fractions of items."""
    return _model(instance, pyo.UnitInterval)


def decode(m: pyo.ConcreteModel, instance: KnapsackInstance) -> KnapsackSolution:
    """Return the item of each group whose variable is 1."""
    chosen: list[int | None] = [None] * len(instance.groups)
    for i, c in m.IC:
        if pyo.value(m.y[i, c]) > 0.5:
            chosen[i] = c
    return KnapsackSolution(chosen=tuple(chosen))


def _row(instance: KnapsackInstance, r: int) -> tuple[list[list[Exact]], Exact]:
    """Return the weights of a row by group, and its capacity.

    Scaled to whole numbers if doubles hold these, so that solver tolerances do no harm.
    """
    whole = instance.whole
    if max(whole.capacities[r], *(w[r] for items in whole.items for _, w in items)) < 2**53:
        return [[w[r] for _, w in items] for items in whole.items], whole.capacities[r]
    weights = [coefficients(item.weights[r] for item in items) for items in instance.groups]
    return weights, coefficient(instance.capacities[r])


def _model(instance: KnapsackInstance, domain: Any) -> pyo.ConcreteModel:
    groups = instance.groups
    rows = [_row(instance, r) for r in range(len(instance.capacities))]
    m = pyo.ConcreteModel("knapsack")
    m.R = pyo.RangeSet(0, len(instance.capacities) - 1)
    m.I = pyo.RangeSet(0, len(groups) - 1)
    m.IC = pyo.Set(
        dimen=2,
        initialize=[(i, c) for i, items in enumerate(groups) for c in range(len(items))],
    )
    m.y = pyo.Var(m.IC, domain=domain, doc="(K4): item c is chosen of group i")

    @m.Constraint(m.R, doc="(K2): the weights chosen fit the capacity")
    def capacity(m: Any, r: int) -> Any:
        weights, limit = rows[r]
        weight = sum(weights[i][c] * m.y[i, c] for i, c in m.IC if weights[i][c])
        return weight <= limit if any(map(any, weights)) else pyo.Constraint.Skip

    @m.Constraint(m.I, doc="(K3): at most, or exactly, one item of each group")
    def one_of_group(m: Any, i: int) -> Any:
        chosen = sum(m.y[i, c] for c in range(len(groups[i])))
        if instance.exactly_one:
            return chosen == 1
        return chosen <= 1 if len(groups[i]) > 1 else pyo.Constraint.Skip

    m.profit = pyo.Objective(
        expr=sum(coefficient(groups[i][c].profit) * m.y[i, c] for i, c in m.IC),
        sense=pyo.maximize,
        doc="(K1): profit of what is chosen",
    )
    return m
