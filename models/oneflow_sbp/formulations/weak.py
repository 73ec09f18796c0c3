r"""The weak model, for teaching: a conversion is at least :math:`s + s - 1`.

.. math::
    y_{eab} \ge \sum_{k: out_{uk} = a} s_{uk} + \sum_{l: in_{vl}(e) = b} s_{vl} - 1, \qquad
    \sum_{k: out_{uk} = a} s_{uk} + \sum_{l: in_{vl}(e) = b} s_{vl} \le 1
    \text{ where } R_e(a, b) = \infty .

With binary s that is correct. Its linear relaxation spreads s over several signatures and pays for
next to no conversion; the page says how large the gap is.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..instance import OneFlowSbpInstance
from .parts import choice_model, compute_cost, conversion_cost, decode, uses


@formulation(model_class="ILP", equations="3.3, the weak form; reconstructed", decode=decode)
def build(instance: OneFlowSbpInstance) -> pyo.ConcreteModel:
    """Conversions are at least s + s - 1, for teaching."""
    return weak_model(instance, pyo.Binary)


@formulation(
    name="weak_lp",
    model_class="LP",
    strength="relaxation",
    equations="3.3, the weak form; reconstructed",
)
def build_relaxation(instance: OneFlowSbpInstance) -> pyo.ConcreteModel:
    """Its linear relaxation."""
    return weak_model(instance, pyo.UnitInterval)


def weak_model(instance: OneFlowSbpInstance, domain: Any) -> pyo.ConcreteModel:
    """Build the model with signatures of this domain."""
    found = uses(instance)
    m = choice_model(instance, "weak", domain)
    charged = [(e, a, b) for e, use in enumerate(found) for (a, b), c in use.cost.items() if c]
    number = {pair: i for i, pair in enumerate(charged)}
    m.Y = pyo.RangeSet(0, len(charged) - 1)
    m.y = pyo.Var(m.Y, domain=domain, doc="use e converts label a into b")
    m.both = pyo.ConstraintList(doc="labels of both ends imply the conversion")
    m.impossible = pyo.ConstraintList(doc="no labels without a conversion")
    for e, use in enumerate(found):
        for a, ks in use.have.items():
            for b, js in use.want.items():
                ends = sum(m.s[use.edge.source, k] for k in ks)
                ends += sum(m.s[use.edge.target, j] for j in js)
                if (a, b) not in use.cost:
                    m.impossible.add(ends <= 1)
                elif use.cost[a, b]:
                    m.both.add(m.y[number[e, a, b]] >= ends - 1)
    boxing = conversion_cost(m, found, lambda e, a, b: m.y[number[e, a, b]], domain)
    m.objective = pyo.Objective(
        expr=compute_cost(m, instance) + boxing, doc="compute and conversions"
    )
    return m
