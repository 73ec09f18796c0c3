r"""Divisible bundles: a part of each may be sold; a relaxation.

Histories h as in `sequence_form`; :math:`X_h = \alpha x_h`, where :math:`x_h` is the part of its
bundle that the last request of h gets. A request g that came before h, or is its last one, still
holds its units then if fewer than :math:`\delta_g` rounds lie between them: :math:`g \to h`.

.. math::
    \min\ & \alpha                                                                    \tag{D1} \\
    & \textstyle\sum_{h' \preceq h} v_{h'} X_{h'} \ge OPT(h) \quad \forall h          \tag{D2} \\
    & \textstyle\sum_{g \to h} d_{gr} X_g \le C_r\,\alpha \quad \forall h, r          \tag{D3} \\
    & 0 \le X_h \le \alpha                                                            \tag{D4}

The mean of what a seller of whole bundles does is such a plan. The reverse holds for units of one
resource, where one seed realises the plan; of bundles, whole ones may not fit where their means do.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.pyomo_numbers import coefficient, coefficients
from gadgetopt.system.declaring import formulation

from ..instance import AdversarialBundlesInstance
from ..subproblems.tree import ROOT, full_tree
from .sequence_form import MOST_PAIRS


@formulation(model_class="LP", strength="relaxation", equations="(D1)-(D4)")
def build(instance: AdversarialBundlesInstance) -> pyo.ConcreteModel:
    """A part of every bundle may be sold.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    tree = full_tree(instance, MOST_PAIRS)
    values = coefficients(kind.value for kind in instance.types)
    m = pyo.ConcreteModel("divisible")
    m.H = pyo.RangeSet(0, len(tree) - 1)
    m.R = pyo.RangeSet(0, len(instance.capacity) - 1)
    m.alpha = pyo.Var(domain=pyo.NonNegativeReals, doc="the ratio")
    m.X = pyo.Var(m.H, domain=pyo.NonNegativeReals, doc="(D4): part that is sold, times alpha")

    def path(h: int) -> list[int]:
        found = []
        while h != ROOT:
            found.append(h)
            h = tree.parent[h]
        return found

    @m.Constraint(m.H, doc="(D2): enough is earned if the sequence stops here")
    def robust(m: Any, h: int) -> Any:
        earned = sum(values[tree.history[g][-1]] * m.X[g] for g in path(h))
        return earned >= coefficient(tree.optimum(h))

    @m.Constraint(m.H, m.R, doc="(D3): no more is held than there is")
    def capacity(m: Any, h: int, r: int) -> Any:
        held = [
            (instance.types[j].demand[r], g)
            for past, g in enumerate(path(h))
            for j in [tree.history[g][-1]]
            if past < instance.rounds_held(j) and instance.types[j].demand[r]
        ]
        if not held:
            return pyo.Constraint.Skip
        return sum(d * m.X[g] for d, g in held) <= instance.capacity[r] * m.alpha

    @m.Constraint(m.H, doc="(D4): at most the whole bundle")
    def whole(m: Any, h: int) -> Any:
        return m.X[h] <= m.alpha

    m.objective = pyo.Objective(expr=m.alpha, doc="(D1): the worst case")
    return m
