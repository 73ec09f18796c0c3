r"""The pairwise model: a variable for every pair of signatures on an edge (Alpa's form).

Beside the choice of signatures (`parts`), :math:`y_{ekl} \ge 0` for every use e of the tensor of u
by v and signatures k of u and l of v whose conversion is possible.

.. math::
    \min\ & \sum_{ok} \hat c_{ok} s_{ok} + \sum_{ekl} R_e(out_{uk}, in_{vl}(e))\, y_{ekl} \\
    & \sum_l y_{ekl} = s_{uk}   \quad \forall e, k  \\
    & \sum_k y_{ekl} = s_{vl}   \quad \forall e, l  \tag{2}

With binary s the two rows force :math:`y_{ekl} = s_{uk} s_{vl}`.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..instance import OneFlowSbpInstance
from .parts import choice_model, compute_cost, conversion_cost, decode, uses


@formulation(model_class="ILP", equations="(2), (4); reconstructed", decode=decode)
def build(instance: OneFlowSbpInstance) -> pyo.ConcreteModel:
    """A variable for every pair of signatures on an edge."""
    return pairwise_model(instance, pyo.Binary)


@formulation(
    name="pairwise_lp", model_class="LP", strength="relaxation", equations="(2), (4); reconstructed"
)
def build_relaxation(instance: OneFlowSbpInstance) -> pyo.ConcreteModel:
    """Its linear relaxation."""
    return pairwise_model(instance, pyo.UnitInterval)


def pairwise_model(instance: OneFlowSbpInstance, domain: Any) -> pyo.ConcreteModel:
    """Build the model with signatures of this domain."""
    found = uses(instance)
    m = choice_model(instance, "pairwise", domain)
    pairs = [
        (e, k, j)
        for e, use in enumerate(found)
        for a, b in use.cost
        for k in use.have[a]
        for j in use.want[b]
    ]
    number = {pair: i for i, pair in enumerate(pairs)}
    m.Y = pyo.RangeSet(0, len(pairs) - 1)
    m.y = pyo.Var(m.Y, domain=domain, doc="the ends of use e have signatures k and l")
    m.producer = pyo.ConstraintList(doc="(2): the producer of a use has one signature")
    m.consumer = pyo.ConstraintList(doc="(2): the consumer of a use has one signature")
    for e, use in enumerate(found):
        choices = m.choices[use.edge.source], m.choices[use.edge.target]
        for k in choices[0]:
            row = sum(m.y[number[e, k, j]] for j in choices[1] if (e, k, j) in number)
            m.producer.add(row - m.s[use.edge.source, k] == 0)
        for j in choices[1]:
            column = sum(m.y[number[e, k, j]] for k in choices[0] if (e, k, j) in number)
            m.consumer.add(column - m.s[use.edge.target, j] == 0)

    def converted(e: int, a: Any, b: Any) -> Any:
        use = found[e]
        return sum(m.y[number[e, k, j]] for k in use.have[a] for j in use.want[b])

    boxing = conversion_cost(m, found, converted, domain)
    m.objective = pyo.Objective(
        expr=compute_cost(m, instance) + boxing, doc="(2): compute and conversions"
    )
    return m
