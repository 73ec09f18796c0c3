r"""D-T: plan and schedule together, with GPUs counted by machine.

On stages and links q = 0..2S-2 microbatches m = 1..M start at :math:`s^f_{qm}` and
:math:`s^b_{qm}`. Some optimal schedule serves microbatches by index on every kind of block; what is
left to decide is how the forward and backward blocks of a machine interleave:
:math:`o_{qmm'} = 1` for m' < m if backward m' comes before forward m. H is a known makespan.

.. math::
    \min\ & \Theta \\
    & s^f_{qm} \ge s^f_{q-1,m} + f_{q-1}, \quad s^b_{qm} \ge s^b_{q+1,m} + b_{q+1}    \tag{11} \\
    & s^b_{qm} = s^f_{qm} + f_q, \quad s^f_{qm} \ge s^b_{q,m-1} + b_q
      \quad q = 2S-2                                                                  \tag{12} \\
    & s^f_{qm} \ge s^f_{q,m-1} + f_q, \quad s^b_{qm} \ge s^b_{q,m-1} + b_q            \tag{13} \\
    & s^f_{qm} \ge s^b_{qm'} + b_q - H (1 - o_{qmm'}), \quad
      s^b_{qm'} \ge s^f_{qm} + f_q - H\, o_{qmm'}                                     \tag{14} \\
    & o_{qmm'} \ge o_{q,m,m'+1}, \quad o_{qmm'} \ge o_{q,m-1,m'}                      \tag{15} \\
    & s^f_{2n,m} \ge s^b_{2n,m-D} + b_{2n}                                            \tag{16} \\
    & H \ge \Theta \ge s^b_{2n,M} + B_n + A_n                                         \tag{17}

with (0)-(8), (10) of `counts`, and (9) of `bound` as valid rows. With full duplex a link has no
(14). Where the last stages are empty, (12) holds for one that takes no time.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.latency_planner import plan_by_latency
from gadgetopt.pieces.pipeline.orders import orders_of_starts
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import formulation

from ..algorithms.schedules import scheduled
from ..instance import DappleInstance, DappleSolution
from .bound import add_bound_rows, backward_time, forward_time
from .counts import add_plan, decoded_plan

#: Orders of two blocks of a model that is still built. Tuned: `benchmarks/constants.py`.
MOST_ORDERS = 20_000

#: Relative slack of (17), more than the tolerances of solvers. Tuned: `benchmarks/constants.py`.
_SLACK = Fraction(1, 10**7)

#: Part of the iteration time by which equal starts may differ. Tuned: `benchmarks/constants.py`.
_TIE = 1e-6


@formulation(model_class="MILP", equations="(0)-(17)")
def build(instance: DappleInstance) -> pyo.ConcreteModel:
    """D-T: plan, starts and orders of blocks together.

    Raises
    ------
    ModelRefused
        If it would be too large, or an option of the instance is not in it.
    """
    M, S = instance.num_microbatches, instance.most_stages
    if (2 * S - 2) * M * (M - 1) // 2 > MOST_ORDERS:
        raise ModelRefused(f"the joint model has more than {MOST_ORDERS} orders of two blocks")
    m = pyo.ConcreteModel("joint")
    data = add_plan(m, instance)
    H = _known_makespan_s(instance) / data.unit_s * (1 + _SLACK)
    m.Q = pyo.RangeSet(0, 2 * S - 2)
    m.M = pyo.RangeSet(1, M)
    m.Theta = pyo.Var(bounds=(0, H), doc="(17): the iteration time, units")
    m.sf = pyo.Var(m.Q, m.M, bounds=(0, H), doc="start of forward blocks, units")
    m.sb = pyo.Var(m.Q, m.M, bounds=(0, H), doc="start of backward blocks, units")
    _add_routes(m)
    _add_orders(m, H, full_duplex=instance.duplex == "full")
    most = instance.options.max_in_flight
    if most is not None:
        _add_memory(m, most)

    @m.Constraint(m.N, doc="(17): the last backward block and AllReduce of a stage")
    def makespan(m: Any, n: int) -> Any:
        return m.Theta >= m.sb[2 * n, M] + m.B[n] + m.A[n]

    add_bound_rows(m, M, full_duplex=instance.duplex == "full")
    m.objective = pyo.Objective(expr=data.unit_s * m.Theta, doc="the iteration time")
    return m


def decode(m: pyo.ConcreteModel, instance: DappleInstance) -> DappleSolution:
    """Return the plan, and the orders of the starts."""
    plan = decoded_plan(m, instance)
    machines = range(2 * plan.num_stages - 1)
    forward, backward = (
        [[pyo.value(start[q, k]) for k in m.M] for q in machines] for start in (m.sf, m.sb)
    )
    tie = _TIE * pyo.value(m.Theta)
    return DappleSolution.of(
        plan, orders=orders_of_starts(shop_of(instance, plan), (forward, backward), tie)
    )


def _known_makespan_s(instance: DappleInstance) -> Fraction:
    """Return the makespan of a plan of at most two stages by a warm-up policy."""
    found = plan_by_latency(instance, Clock(), max_stages=2, pivot="max").plan
    assert found is not None, "without memory limits every plan fits"
    return Fraction(scheduled(shop_of(instance, found), "best").schedule.makespan_s)


def _add_routes(m: pyo.ConcreteModel) -> None:
    last = m.Q.last()
    before_last = [q for q in m.Q if q < last]
    later = [k for k in m.M if k > 1]

    @m.Constraint([q for q in m.Q if q], m.M, doc="(11): forward along the stages")
    def onward(m: Any, q: int, k: int) -> Any:
        return m.sf[q, k] >= m.sf[q - 1, k] + forward_time(m, q - 1)

    @m.Constraint(before_last, m.M, doc="(11): and back")
    def back(m: Any, q: int, k: int) -> Any:
        return m.sb[q, k] >= m.sb[q + 1, k] + backward_time(m, q + 1)

    @m.Constraint(m.M, doc="(12): the last stage turns at once")
    def turn(m: Any, k: int) -> Any:
        return m.sb[last, k] == m.sf[last, k] + forward_time(m, last)

    @m.Constraint(later, doc="(12): one microbatch after the other on the last stage")
    def on_last(m: Any, k: int) -> Any:
        return m.sf[last, k] >= m.sb[last, k - 1] + backward_time(m, last)

    @m.Constraint(before_last, later, doc="(13): forward blocks by index")
    def by_index(m: Any, q: int, k: int) -> Any:
        return m.sf[q, k] >= m.sf[q, k - 1] + forward_time(m, q)

    @m.Constraint(before_last, later, doc="(13): backward blocks by index")
    def back_by_index(m: Any, q: int, k: int) -> Any:
        return m.sb[q, k] >= m.sb[q, k - 1] + backward_time(m, q)


def _add_orders(m: pyo.ConcreteModel, H: Fraction, *, full_duplex: bool) -> None:
    last = m.Q.last()
    shared = [q for q in m.Q if q < last and not (full_duplex and q % 2)]
    pairs = [(k, j) for k in m.M for j in m.M if j < k]
    m.o = pyo.Var(shared, pairs, domain=pyo.Binary, doc="backward j before forward k")

    @m.Constraint(shared, pairs, doc="(14): backward j, then forward k")
    def backward_first(m: Any, q: int, k: int, j: int) -> Any:
        return m.sf[q, k] >= m.sb[q, j] + backward_time(m, q) - H * (1 - m.o[q, k, j])

    @m.Constraint(shared, pairs, doc="(14): forward k, then backward j")
    def forward_first(m: Any, q: int, k: int, j: int) -> Any:
        return m.sb[q, j] >= m.sf[q, k] + forward_time(m, q) - H * m.o[q, k, j]

    @m.Constraint(shared, pairs, doc="(15): an earlier backward block comes before, too")
    def staircase_backward(m: Any, q: int, k: int, j: int) -> Any:
        return m.o[q, k, j] >= m.o[q, k, j + 1] if j + 1 < k else pyo.Constraint.Skip

    @m.Constraint(shared, pairs, doc="(15): before a later forward block, too")
    def staircase_forward(m: Any, q: int, k: int, j: int) -> Any:
        return m.o[q, k, j] >= m.o[q, k - 1, j] if j < k - 1 else pyo.Constraint.Skip


def _add_memory(m: pyo.ConcreteModel, most: int) -> None:
    stages = [q for q in m.Q if q % 2 == 0]

    @m.Constraint(stages, [k for k in m.M if k > most], doc="(16): microbatches in flight")
    def in_flight(m: Any, q: int, k: int) -> Any:
        return m.sf[q, k] >= m.sb[q, k - most] + backward_time(m, q)
