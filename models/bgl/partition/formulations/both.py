r"""The second linearisation of (2): a pair is not cut in the part that has both its nodes.

With :math:`z_{abi} = 1` if both a and b are in part i, (2d) becomes

.. math::
    z_{abi} \le x_{ai}, \quad z_{abi} \le x_{bi} \quad \forall ab, i, \qquad
    y_{ab} \ge 1 - \sum_i z_{abi} \quad \forall ab.                         \tag{2d'}
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..instance import BglPartitionInstance
from .difference import decode, partition_model


@formulation(model_class="MILP", equations="(2), second linearisation", decode=decode)
def build(instance: BglPartitionInstance) -> pyo.ConcreteModel:
    """A pair is not cut in the part that has both its nodes."""
    return both_model(instance, pyo.Binary)


@formulation(
    name="both_lp", model_class="LP", strength="relaxation", equations="(2), second linearisation"
)
def build_relaxation(instance: BglPartitionInstance) -> pyo.ConcreteModel:
    """Its linear relaxation."""
    return both_model(instance, pyo.UnitInterval)


def both_model(instance: BglPartitionInstance, assigned: Any) -> pyo.ConcreteModel:
    """Build (2) with (2d') and x of this domain."""
    m = partition_model(instance, "both", assigned)
    m.z = pyo.Var(m.Q, m.I, domain=pyo.UnitInterval, doc="(2d'): both nodes are in part i")

    @m.Constraint(m.Q, m.I, doc="(2d'): the first node is there")
    def first_there(m: Any, a: int, b: int, i: int) -> Any:
        return m.z[a, b, i] <= m.x[a, i]

    @m.Constraint(m.Q, m.I, doc="(2d'): the second node is there")
    def second_there(m: Any, a: int, b: int, i: int) -> Any:
        return m.z[a, b, i] <= m.x[b, i]

    @m.Constraint(m.Q, doc="(2d'): else the pair is cut")
    def cut(m: Any, a: int, b: int) -> Any:
        return m.y[a, b] >= 1 - sum(m.z[a, b, i] for i in m.I)

    return m
