r"""The quadratic model, binary and not convex.

.. math::
    \min\ \sum_{ok} \hat c_{ok} s_{ok}
    + \sum_{e = (u, v)} \sum_{kl} R_e(out_{uk}, in_{vl}(e))\, s_{uk} s_{vl}             \tag{1}

Signatures whose conversion is impossible exclude each other. Under shared boxing the products are
lower bounds of the shared conversions.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..instance import OneFlowSbpInstance
from .parts import choice_model, compute_cost, conversion_cost, decode, uses


@formulation(
    model_class="MINLP", equations="(1), (4); reconstructed", decode=decode, backends=("scip",)
)
def build(instance: OneFlowSbpInstance) -> pyo.ConcreteModel:
    """Products of signatures, not convex."""
    found = uses(instance)
    m = choice_model(instance, "quadratic", pyo.Binary)
    m.impossible = pyo.ConstraintList(doc="no signatures without a conversion")
    for use in found:
        for a, ks in use.have.items():
            for b, js in use.want.items():
                if (a, b) not in use.cost:
                    ends = sum(m.s[use.edge.source, k] for k in ks)
                    m.impossible.add(ends + sum(m.s[use.edge.target, j] for j in js) <= 1)

    def converted(e: int, a: Any, b: Any) -> Any:
        use = found[e]
        produced = sum(m.s[use.edge.source, k] for k in use.have[a])
        return produced * sum(m.s[use.edge.target, j] for j in use.want[b])

    boxing = conversion_cost(m, found, converted, pyo.Binary)
    m.objective = pyo.Objective(
        expr=compute_cost(m, instance) + boxing, doc="(1): compute and conversions"
    )
    return m
