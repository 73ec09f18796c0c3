r"""The offline problem (P): which requests an all-knowing seller accepts.

Sets: requests j, resources r. Parameters: values :math:`v_j`, demands :math:`d_{jr}`, capacities
:math:`C_r`. Variables: :math:`z_j = 1` if request j is accepted.

.. math::
    \max\ & \sum_j v_j z_j                                             \tag{P} \\
    & \sum_j d_{jr} z_j \le C_r                    \quad \forall r     \\
    & z_j \in \{0, 1\}

The dual of its linear relaxation prices the resources, see `certificate`.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ..instance import AdversarialOnlineRunInstance, AdversarialOnlineRunSolution, Play


@formulation(model_class="ILP", equations="(P)", backends=("highs", "cpsat"))
def build(instance: AdversarialOnlineRunInstance) -> pyo.ConcreteModel:
    """A binary variable for every request, a row for every resource."""
    return _packing(instance, pyo.Binary)


@formulation(name="packing_lp", model_class="LP", strength="relaxation", equations="(P)")
def build_relaxation(instance: AdversarialOnlineRunInstance) -> pyo.ConcreteModel:
    """Its linear relaxation: the duals are the best prices in hindsight."""
    return _packing(instance, pyo.UnitInterval)


def decode(
    m: pyo.ConcreteModel, _instance: AdversarialOnlineRunInstance
) -> AdversarialOnlineRunSolution:
    """Return the requests whose variable is 1."""
    accepted = tuple(j for j in m.J if pyo.value(m.z[j]) > 0.5)
    return AdversarialOnlineRunSolution(plays=(Play(accepted=accepted),))


def _packing(instance: AdversarialOnlineRunInstance, chosen: Any) -> pyo.ConcreteModel:
    demands = instance.demands
    m = pyo.ConcreteModel("packing")
    m.J = pyo.RangeSet(0, len(instance.value) - 1)
    m.R = pyo.RangeSet(0, len(instance.capacity) - 1)
    m.z = pyo.Var(m.J, domain=chosen, doc="request j is accepted")

    @m.Constraint(m.R, doc="no more of a resource is sold than there is")
    def capacity(m: Any, r: int) -> Any:
        demanding = [j for j in m.J if demands[j][r]]
        if not demanding:
            return pyo.Constraint.Skip
        return sum(demands[j][r] * m.z[j] for j in demanding) <= instance.capacity[r]

    m.welfare = pyo.Objective(
        expr=sum(coefficient(instance.value[j]) * m.z[j] for j in m.J),
        sense=pyo.maximize,
        doc="(P): welfare",
    )
    return m
