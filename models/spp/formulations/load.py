r"""The load problem P-W: the least largest busy time of a stage or channel.

.. math::
    \min\ & W \\
    & W \ge M (F_n + B_n) + A_n                             \quad \forall n       \tag{W1} \\
    & W \ge M (C^f_n + C^b_n)                               \quad \forall n < S-1  \tag{W2}

and (P1)-(P13) of `plan_variables`; with full duplex each direction has a row (W2) of its own. This
is what PRM minimises for an order of the GPUs. W bounds the iteration time of its plan, so the
optimum is a lower bound; a plan of least W may take much longer than the best.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..instance import SppInstance
from .decoding import decode
from .plan_variables import add_plan


@formulation(
    model_class="MILP", strength="relaxation", equations="(P1)-(P13), (W1)-(W2)", decode=decode
)
def build(instance: SppInstance) -> pyo.ConcreteModel:
    """P-W: the least largest load of a stage or channel."""
    m = pyo.ConcreteModel("load")
    data = add_plan(m, instance, disaggregated=False)
    M = data.M
    m.W = pyo.Var(domain=pyo.NonNegativeReals, doc="largest load")

    @m.Constraint(m.N, doc="(W1): the busy time of a stage")
    def stage(m: Any, n: int) -> Any:
        return M * (m.F[n] + m.B[n]) + m.A[n] <= m.W

    if instance.duplex == "half":

        @m.Constraint(m.C, doc="(W2): the busy time of a channel")
        def channel(m: Any, n: int) -> Any:
            return M * (m.Cf[n] + m.Cb[n]) <= m.W

    else:

        @m.Constraint(m.C, [0, 1], doc="(W2): the busy time of a direction of a channel")
        def direction(m: Any, n: int, back: int) -> Any:
            return M * (m.Cb[n] if back else m.Cf[n]) <= m.W

    m.objective = pyo.Objective(expr=data.unit_s * m.W, doc="the largest load")
    return m
