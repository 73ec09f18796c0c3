r"""The label-aggregated model, to be used: conversions cost what their labels say.

Beside the choice of signatures (`parts`), :math:`y_{eab} \ge 0` for every use e of a tensor, each
label a that its producer can put out and each label b that the consumer can want, if R(a, b) is
finite.

.. math::
    \min\ & \sum_{ok} \hat c_{ok} s_{ok} + \sum_{eab} R_e(a, b)\, y_{eab} \\
    & \sum_b y_{eab} = \sum_{k: out_{uk} = a} s_{uk}      \quad \forall e, a  \\
    & \sum_a y_{eab} = \sum_{l: in_{vl}(e) = b} s_{vl}    \quad \forall e, b  \tag{3}

Only s needs to be integral: both sums of y are then unit vectors. The model declares y integral too
(see `parts.conversion_cost`). The linear relaxation is that of
(2), since R depends on labels only; it is nearly always tight.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..instance import OneFlowSbpInstance
from .parts import choice_model, compute_cost, conversion_cost, decode, uses


@formulation(model_class="ILP", equations="(3), (4); reconstructed", decode=decode)
def build(instance: OneFlowSbpInstance) -> pyo.ConcreteModel:
    """A variable for every pair of labels on an edge."""
    return aggregated_model(instance, pyo.Binary)


@formulation(
    name="aggregated_lp",
    model_class="LP",
    strength="relaxation",
    equations="(3), (4); reconstructed",
)
def build_relaxation(instance: OneFlowSbpInstance) -> pyo.ConcreteModel:
    """Its linear relaxation."""
    return aggregated_model(instance, pyo.UnitInterval)


def aggregated_model(instance: OneFlowSbpInstance, domain: Any) -> pyo.ConcreteModel:
    """Build the model with signatures of this domain."""
    found = uses(instance)
    m = choice_model(instance, "aggregated", domain)
    pairs = [(e, a, b) for e, use in enumerate(found) for a, b in use.cost]
    number = {pair: i for i, pair in enumerate(pairs)}
    m.Y = pyo.RangeSet(0, len(pairs) - 1)
    m.y = pyo.Var(m.Y, domain=domain, doc="use e converts label a into b")
    m.produced = pyo.ConstraintList(doc="(3): a use has the label that its producer puts out")
    m.wanted = pyo.ConstraintList(doc="(3): a use gives the label that its consumer wants")
    for e, use in enumerate(found):
        for a, ks in use.have.items():
            given = sum(m.y[number[e, a, b]] for b in use.want if (a, b) in use.cost)
            m.produced.add(given - sum(m.s[use.edge.source, k] for k in ks) == 0)
        for b, ks in use.want.items():
            taken = sum(m.y[number[e, a, b]] for a in use.have if (a, b) in use.cost)
            m.wanted.add(taken - sum(m.s[use.edge.target, k] for k in ks) == 0)
    boxing = conversion_cost(m, found, lambda e, a, b: m.y[number[e, a, b]], domain)
    m.objective = pyo.Objective(
        expr=compute_cost(m, instance) + boxing, doc="(3): compute and conversions"
    )
    return m
