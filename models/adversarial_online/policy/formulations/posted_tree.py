r"""The linear program (2) with a price that is posted before the value is seen.

To (2)-(2d), for histories g followed by the levels i < j,

.. math:: X_{g i} \le X_{g j}. \tag{2e}

A buyer accepts every price that is no more than her value, so the sale probability cannot fall with
the value. The optimum is that of (2) for the ratio: the policy that keeps a share of OPT has
:math:`x = \rho (1 - w/v)^+`, which grows with v.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..instance import AdversarialOnlinePolicyInstance
from ..subproblems.trees import full_tree
from .history_tree import MOST_HISTORIES, decode, tree_model


@formulation(model_class="LP", strength="restriction", equations="(2), (2a)-(2e)", decode=decode)
def build(instance: AdversarialOnlinePolicyInstance) -> pyo.ConcreteModel:
    """The same with a price posted before the value is seen.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    m = tree_model(instance, full_tree(instance, MOST_HISTORIES))
    J = len(instance.levels)
    # Siblings stand next to each other, in the order of their levels.
    later = [h for h in m.H if h % J]

    @m.Constraint(later, doc="(2e): the sale probability grows with the value")
    def posted(m: Any, h: int) -> Any:
        return m.X[h - 1] <= m.X[h]

    return m
