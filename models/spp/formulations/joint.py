r"""The joint model P-T: plan and schedule together.

On machines q = 0..2S-2 with times :math:`f_q, b_q` and AllReduce :math:`a_q`, microbatches
m = 1..M start at :math:`s^f_{qm}` and :math:`s^b_{qm}`. Some optimal schedule serves microbatches
by index on every kind of block; what is left to decide is how the forward and backward blocks of a
machine interleave: :math:`o_{qmm'} = 1` for m' < m if backward m' comes before forward m. H is the
makespan of SPP.

.. math::
    \min\ & \Theta \\
    & s^f_{qm} \ge s^f_{q-1,m} + f_{q-1}                                          \tag{J1} \\
    & s^b_{qm} \ge s^b_{q+1,m} + b_{q+1}                                          \tag{J2} \\
    & s^b_{qm} = s^f_{qm} + f_q, \quad s^f_{qm} \ge s^b_{q,m-1} + b_q
      \quad q = 2S-2                                                               \tag{J3} \\
    & s^f_{qm} \ge s^f_{q,m-1} + f_q, \quad s^b_{qm} \ge s^b_{q,m-1} + b_q        \tag{J4} \\
    & s^f_{qm} \ge s^b_{qm'} + b_q - H (1 - o_{qmm'}), \quad
      s^b_{qm'} \ge s^f_{qm} + f_q - H\, o_{qmm'}                                 \tag{J5} \\
    & o_{qmm'} \ge o_{q,m,m'+1}, \quad o_{qmm'} \ge o_{q,m-1,m'}                  \tag{J6} \\
    & \Theta \ge s^b_{qM} + b_q + a_q                      \quad \forall \text{ even } q \tag{J7}

with (S6) of `bound` as (J8), :math:`\Theta \le H` (J9), and (P1)-(P13) of `plan_variables`. With
full duplex a channel has no (J5). Where the last stages are empty, (J3) holds for one that takes no
time, and the stage that is really the last is scheduled like the others.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.orders import orders_of_starts
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.system.declaring import formulation
from gadgetopt.system.result import Limits

from ..algorithms.spp import spp
from ..instance import SppInstance, SppSolution
from .bound import add_bound_rows, backward_time, forward_time
from .decoding import decoded_plan
from .plan_variables import add_plan

#: Orders of two blocks of a model that is still built. Tuned: `benchmarks/constants.py`.
MOST_ORDERS = 20_000

#: Relative slack of (J9), more than the tolerances of solvers. Tuned: `benchmarks/constants.py`.
_SLACK = Fraction(1, 10**7)

#: Part of the iteration time by which starts of equal blocks may differ.
#: Tuned: `benchmarks/constants.py`.
_TIE = 1e-6


@formulation(model_class="MILP", equations="(P1)-(P13), (J1)-(J9)")
def build(instance: SppInstance) -> pyo.ConcreteModel:
    """P-T: plan, starts and orders of blocks together.

    Raises
    ------
    ModelRefused
        If it would be too large, or an option of the instance is not in it.
    """
    return _model(instance, disaggregated=False)


@formulation(
    name="joint_disaggregated",
    model_class="MILP",
    equations="(P1)-(P9), (P13), (D1)-(D6), (J1)-(J9)",
)
def build_disaggregated(instance: SppInstance) -> pyo.ConcreteModel:
    """P-T with variables for layers by number of GPUs and slowest link."""
    return _model(instance, disaggregated=True)


def decode(m: pyo.ConcreteModel, instance: SppInstance) -> SppSolution:
    """Return the plan, and the orders of the starts."""
    plan = decoded_plan(m, instance)
    machines = range(2 * plan.num_stages - 1)
    forward, backward = (
        [[pyo.value(start[q, k]) for k in m.M] for q in machines] for start in (m.sf, m.sb)
    )
    tie = _TIE * pyo.value(m.Theta)
    return SppSolution.of(plan, orders_of_starts(shop_of(instance, plan), (forward, backward), tie))


def _model(instance: SppInstance, *, disaggregated: bool) -> pyo.ConcreteModel:
    options = instance.options
    if options.memory_bytes is not None or options.max_in_flight is not None:
        raise ModelRefused("options: limits of microbatches in flight are not in the joint model")
    M, S = instance.num_microbatches, instance.most_stages
    if (2 * S - 2) * M * (M - 1) // 2 > MOST_ORDERS:
        raise ModelRefused(f"the joint model has more than {MOST_ORDERS} orders of two blocks")
    m = pyo.ConcreteModel("joint")
    data = add_plan(m, instance, disaggregated=disaggregated)
    known = spp(instance, Limits()).claimed_objective
    assert known is not None, "without memory limits SPP always finds a plan"
    H = decimal_rational(known) / data.unit_s * (1 + _SLACK)
    m.Theta = pyo.Var(bounds=(0, H), doc="(J9): the iteration time")
    add_starts(m, 2 * S - 2, M, H)
    add_routes(m)
    add_orders(m, H, full_duplex=instance.duplex == "full")

    @m.Constraint(m.N, doc="(J7): the last backward block and AllReduce of a stage")
    def makespan(m: Any, n: int) -> Any:
        return m.Theta >= m.sb[2 * n, M] + m.B[n] + m.A[n]

    add_bound_rows(m, M, full_duplex=instance.duplex == "full")  # (J8)
    m.objective = pyo.Objective(expr=data.unit_s * m.Theta, doc="the iteration time")
    return m


def add_starts(m: pyo.ConcreteModel, last: int, M: int, H: Fraction) -> None:
    """Add the starts of all blocks."""
    m.Q = pyo.RangeSet(0, last)
    m.M = pyo.RangeSet(1, M)
    m.sf = pyo.Var(m.Q, m.M, bounds=(0, H), doc="start of forward blocks")
    m.sb = pyo.Var(m.Q, m.M, bounds=(0, H), doc="start of backward blocks")


def add_routes(m: pyo.ConcreteModel) -> None:
    """Add (J1)-(J4)."""
    last = m.Q.last()
    before_last = [q for q in m.Q if q < last]

    @m.Constraint([q for q in m.Q if q], m.M, doc="(J1): forward along the machines")
    def onward(m: Any, q: int, k: int) -> Any:
        return m.sf[q, k] >= m.sf[q - 1, k] + forward_time(m, q - 1)

    @m.Constraint(before_last, m.M, doc="(J2): and back")
    def back(m: Any, q: int, k: int) -> Any:
        return m.sb[q, k] >= m.sb[q + 1, k] + backward_time(m, q + 1)

    @m.Constraint(m.M, doc="(J3): the last stage turns at once")
    def turn(m: Any, k: int) -> Any:
        return m.sb[last, k] == m.sf[last, k] + forward_time(m, last)

    later = [k for k in m.M if k > 1]

    @m.Constraint(later, doc="(J3): one microbatch after the other on the last stage")
    def on_last(m: Any, k: int) -> Any:
        return m.sf[last, k] >= m.sb[last, k - 1] + backward_time(m, last)

    @m.Constraint(before_last, later, doc="(J4): forward blocks by index")
    def by_index(m: Any, q: int, k: int) -> Any:
        return m.sf[q, k] >= m.sf[q, k - 1] + forward_time(m, q)

    @m.Constraint(before_last, later, doc="(J4): backward blocks by index")
    def back_by_index(m: Any, q: int, k: int) -> Any:
        return m.sb[q, k] >= m.sb[q, k - 1] + backward_time(m, q)


def add_orders(m: pyo.ConcreteModel, H: Fraction, *, full_duplex: bool) -> None:
    """Add (J5) and (J6)."""
    last = m.Q.last()
    shared = [q for q in m.Q if q < last and not (full_duplex and q % 2)]
    pairs = [(k, j) for k in m.M for j in m.M if j < k]
    m.o = pyo.Var(shared, pairs, domain=pyo.Binary, doc="backward j before forward k")

    @m.Constraint(shared, pairs, doc="(J5): backward j, then forward k")
    def backward_first(m: Any, q: int, k: int, j: int) -> Any:
        return m.sf[q, k] >= m.sb[q, j] + backward_time(m, q) - H * (1 - m.o[q, k, j])

    @m.Constraint(shared, pairs, doc="(J5): forward k, then backward j")
    def forward_first(m: Any, q: int, k: int, j: int) -> Any:
        return m.sb[q, j] >= m.sf[q, k] + forward_time(m, q) - H * m.o[q, k, j]

    @m.Constraint(shared, pairs, doc="(J6): an earlier backward block comes before, too")
    def staircase_backward(m: Any, q: int, k: int, j: int) -> Any:
        return m.o[q, k, j] >= m.o[q, k, j + 1] if j + 1 < k else pyo.Constraint.Skip

    @m.Constraint(shared, pairs, doc="(J6): before a later forward block, too")
    def staircase_forward(m: Any, q: int, k: int, j: int) -> Any:
        return m.o[q, k, j] >= m.o[q, k - 1, j] if j < k - 1 else pyo.Constraint.Skip
