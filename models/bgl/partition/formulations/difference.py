r"""The integer program (2): a pair is cut if its nodes differ in some part.

Sets: nodes v of V, training nodes T, parts i of 1 to k, pairs ab of Q. Variables:
:math:`x_{vi} = 1` if node v is in part i; :math:`y_{ab} = 1` if the pair ab is cut.

.. math::
    \min\ & \sum_{ab} q_{ab}\, y_{ab}                                           \tag{2a} \\
    & \sum_i x_{vi} = 1                              \quad \forall v            \tag{2b} \\
    & \sum_v x_{vi} \le C, \quad \sum_{v \in T} x_{vi} \le C_T \quad \forall i  \tag{2c} \\
    & y_{ab} \ge \pm (x_{ai} - x_{bi})               \quad \forall ab, i        \tag{2d} \\
    & x \in \{0, 1\}, \quad 0 \le y \le 1                                       \tag{2e}

Parts are alike: of the nodes by decreasing weight, the r-th uses none beyond part r. The linear
relaxation cuts only between the heaviest nodes, which are fixed so; all others may have x = 1/k.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ..instance import BglPartitionInstance, BglPartitionSolution
from .coefficients import check_size, forbidden


@formulation(model_class="MILP", equations="(2)")
def build(instance: BglPartitionInstance) -> pyo.ConcreteModel:
    """A pair is cut if its nodes differ in some part; heaviest nodes fixed."""
    return difference_model(instance, pyo.Binary)


@formulation(name="difference_lp", model_class="LP", strength="relaxation", equations="(2)")
def build_relaxation(instance: BglPartitionInstance) -> pyo.ConcreteModel:
    """Its linear relaxation."""
    return difference_model(instance, pyo.UnitInterval)


def decode(m: pyo.ConcreteModel, instance: BglPartitionInstance) -> BglPartitionSolution:
    """Return the part of each node whose variable is 1."""
    return BglPartitionSolution.of(
        [next(i for i in m.I if pyo.value(m.x[v, i]) > 0.5) for v in m.V]
    )


def difference_model(instance: BglPartitionInstance, assigned: Any) -> pyo.ConcreteModel:
    """Build (2) with x of this domain."""
    m = partition_model(instance, "difference", assigned)

    @m.Constraint(m.Q, m.I, doc="(2d): a pair is cut if only its first node is in the part")
    def only_first(m: Any, a: int, b: int, i: int) -> Any:
        return m.y[a, b] >= m.x[a, i] - m.x[b, i]

    @m.Constraint(m.Q, m.I, doc="(2d): a pair is cut if only its second node is in the part")
    def only_second(m: Any, a: int, b: int, i: int) -> Any:
        return m.y[a, b] >= m.x[b, i] - m.x[a, i]

    return m


def partition_model(instance: BglPartitionInstance, name: str, assigned: Any) -> pyo.ConcreteModel:
    """Build (2a)-(2c) with x of this domain."""
    check_size(instance)
    weights = instance.pair_weights
    q = {
        (a, b): coefficient(w)
        for a, b, w in zip(
            weights.first.tolist(), weights.second.tolist(), weights.weight, strict=True
        )
    }
    m = pyo.ConcreteModel(name)
    m.V = pyo.RangeSet(0, instance.num_nodes - 1)
    m.I = pyo.RangeSet(0, instance.used_parts - 1)
    m.Q = pyo.Set(initialize=list(q), dimen=2)
    m.x = pyo.Var(m.V, m.I, domain=assigned, doc="(2e): node v is in part i")
    m.y = pyo.Var(m.Q, domain=pyo.UnitInterval, doc="(2e): the pair is cut")

    @m.Constraint(m.V, doc="(2b): every node is in one part")
    def one_part(m: Any, v: int) -> Any:
        return sum(m.x[v, i] for i in m.I) == 1

    @m.Constraint(m.I, doc="(2c): no part has too many nodes")
    def node_cap(m: Any, i: int) -> Any:
        return sum(m.x[v, i] for v in m.V) <= instance.node_cap

    @m.Constraint(m.I, doc="(2c): no part has too many training nodes")
    def train_cap(m: Any, i: int) -> Any:
        return sum(m.x[v, i] for v in instance.train_nodes) <= instance.train_cap

    beyond = forbidden(instance)
    m.R = pyo.RangeSet(0, len(beyond) - 1)

    @m.Constraint(m.R, doc="the r-th heaviest node uses no part beyond r")
    def ordered_parts(m: Any, r: int) -> Any:
        return m.x[beyond[r]] <= 0

    m.objective = pyo.Objective(
        expr=sum(w * m.y[pair] for pair, w in q.items()) if q else 0.0 * m.x[0, 0],
        doc="(2a): the weight that is cut",
    )
    return m
