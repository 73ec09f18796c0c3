r"""The integer program: a binary variable for every item.

Sets: items i of I. Parameters: capacity C, weights :math:`w_i`, values :math:`v_i`. Variables:
:math:`x_i = 1` if item i is chosen.

.. math::
    \max\ & \sum_i v_i x_i              \tag{K1} \\
    & \sum_i w_i x_i \le C              \tag{K2} \\
    & x_i \in \{0, 1\}                  \tag{K3}

`binary_lp` has :math:`0 \le x_i \le 1` instead of (K3): one item may be taken in part.
"""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from gadgetopt.system.declaring import formulation

from ..instance import SkeletonInstance, SkeletonSolution


@formulation(model_class="ILP", equations="(K1)-(K3)", backends=("highs", "cpsat"))
def build(instance: SkeletonInstance) -> pyo.ConcreteModel:
    """A binary variable for every item."""
    return _model(instance, pyo.Binary)


@formulation(name="binary_lp", model_class="LP", strength="relaxation", equations="(K1)-(K2)")
def build_relaxation(instance: SkeletonInstance) -> pyo.ConcreteModel:
    """Its linear relaxation."""
    return _model(instance, pyo.UnitInterval)


def decode(
    m: pyo.ConcreteModel,
    _instance: SkeletonInstance,
) -> SkeletonSolution:
    """Return the items whose variable is 1."""
    chosen = tuple(i for i in m.I if pyo.value(m.x[i]) > 0.5)
    return SkeletonSolution(chosen=chosen)


def _model(instance: SkeletonInstance, chosen: Any) -> pyo.ConcreteModel:
    """Build (K1)-(K2) with variables of this domain."""
    m = pyo.ConcreteModel("binary")
    m.I = pyo.RangeSet(0, len(instance.weight_kg) - 1)
    m.x = pyo.Var(m.I, domain=chosen, doc="(K3): item i is chosen")
    weight_kg = sum(instance.weight_kg[i] * m.x[i] for i in m.I)
    m.fits = pyo.Constraint(expr=weight_kg <= instance.capacity_kg, doc="(K2): what is chosen fits")
    value = sum(instance.value[i] * m.x[i] for i in m.I)
    m.worth = pyo.Objective(expr=value, sense=pyo.maximize, doc="(K1): value")
    return m
