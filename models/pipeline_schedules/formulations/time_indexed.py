r"""The time-indexed model: which operation starts at which tick.

Sets: operations o = (k, s, j) with durations :math:`p_o`, ticks :math:`\tau` of 0..T - 1.
Parameters: as in `disjunctive`. Variables: :math:`y_{o\tau} = 1` if o starts at tick
:math:`\tau`; Z. :math:`t_o = \sum_\tau \tau\, y_{o\tau}` is its start.

.. math::
    \min\ & Z                                                                          \\
    & \sum_\tau y_{o\tau} = 1 \quad \forall o                               \tag{T1} \\
    & t_o \ge t_q + p_q + c \quad \text{for what o waits for}             \tag{T2} \\
    & \sum_{o \in d} \sum_{\tau - p_o < \sigma \le \tau} y_{o\sigma} \le 1
      \quad \forall d, \tau                                                 \tag{T3} \\
    & \sum_{s \in d} \sum_j \Big( a_s [t_F \le \tau] - (a_s - g_s) [t_I + i_s \le \tau]
      - g_s [t_W + w_s \le \tau] \Big) \le K_d \quad \forall d, \tau         \tag{T4} \\
    & Z \ge t_{W,s,j} + w_s + A_s, \text{ less the begin of the device for a period} \tag{T5}

where :math:`[t_o + p \le \tau] = \sum_{\sigma \le \tau - p} y_{o\sigma}`. It is there to be read:
there are 3SMT binary variables.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ..cells import Operation
from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from ..shop import Shop, horizon_of, shop_of
from .decoding import duration, operations, solution_of
from .disjunctive import earliest, waits_for

#: Binary variables; beyond, the model is too large to be of use. Tuned: `benchmarks/constants.py`.
MOST_VARIABLES = 100_000


@formulation(model_class="ILP", equations="(T1)-(T5)", backends=("highs", "cpsat"))
def build(instance: PipelineSchedulesInstance) -> pyo.ConcreteModel:
    """A binary variable for every operation and tick; for small whole times."""
    shop = shop_of(instance)
    if shop.links != "lag":
        raise ModelRefused(f"links: {shop.links}, the model has transfers that only take time")
    if any(group is not None for group in shop.groups):
        raise ModelRefused("weight_group: given, the model has AllReduces of single stages")
    if shop.period:
        raise ModelRefused("objective: period, which may be a fraction of a tick")
    ops, T = operations(shop), horizon_of(shop, shop.horizon)
    if len(ops) * T > MOST_VARIABLES:
        raise ModelRefused(
            f"routes: {len(ops)} operations in {T} ticks, at most {MOST_VARIABLES} variables"
        )
    p = {op: duration(shop, op) for op in ops}
    slots = [(o, x) for o, op in enumerate(ops) for x in range(earliest(shop, op), T - p[op] + 1)]

    m = pyo.ConcreteModel("time_indexed")
    m.O = pyo.Set(initialize=range(len(ops)), doc="operations")
    m.Y = pyo.Set(initialize=slots, dimen=2, doc="operations and ticks")
    m.y = pyo.Var(m.Y, domain=pyo.Binary, doc="the operation starts at the tick")
    m.Z = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, T), doc="the makespan, ticks")
    number = {op: n for n, op in enumerate(ops)}
    ticks = [range(earliest(shop, op), T - p[op] + 1) for op in ops]

    def start(op: Operation) -> Any:
        o = number[op]
        return sum(x * m.y[o, x] for x in ticks[o])

    def begun(op: Operation, since: int, until: int) -> list[Any]:
        """The variables of starts from a tick to another."""
        o = number[op]
        return [m.y[o, x] for x in ticks[o] if since <= x <= until]

    @m.Constraint(m.O, doc="(T1): every operation starts once")
    def once(m: Any, o: int) -> Any:
        return sum(m.y[o, x] for x in ticks[o]) == 1

    waits = [(op, q, lag) for op in ops for q, lag in waits_for(shop, op)]

    @m.Constraint(range(len(waits)), doc="(T2): what an operation waits for")
    def route(m: Any, n: int) -> Any:
        op, q, lag = waits[n]
        return start(op) >= start(q) + p[q] + lag

    devices = range(len(shop.on_device))

    @m.Constraint(devices, range(T), doc="(T3): one operation of a device at a time")
    def alone(m: Any, d: int, tick: int) -> Any:
        running = [
            y for op in ops if shop.device[op.stage] == d for y in begun(op, tick - p[op] + 1, tick)
        ]
        return sum(running) <= 1 if running else pyo.Constraint.Skip

    if shop.capacity is not None:
        capacity = shop.capacity

        @m.Constraint(devices, range(T), doc="(T4): memory suffices")
        def memory(m: Any, d: int, tick: int) -> Any:
            held = sum(
                change * y
                for op in ops
                if shop.device[op.stage] == d
                for change, until in [_change(shop, op, tick)]
                for y in begun(op, 0, until)
            )
            return pyo.Constraint.Skip if isinstance(held, int) else held <= capacity[d]

    @m.Constraint(range(len(shop.device)), doc="(T5): the makespan lasts until AllReduce")
    def spans(m: Any, s: int) -> Any:
        last = Operation(s, "W", shop.microbatches[s] - 1)
        return start(last) + shop.w[s] + shop.allreduce[s] <= m.Z

    seconds = coefficient(Fraction(1, instance.ticks_per_s))
    m.objective = pyo.Objective(expr=seconds * m.Z, doc="the makespan, s")
    return m


def _change(shop: Shop, op: Operation, tick: int) -> tuple[int, int]:
    """Return what an operation changes of memory, and until when it starts to do so by a tick."""
    s = op.stage
    if op.kind == "F":
        return shop.a[s], tick
    if op.kind == "I":
        return shop.g[s] - shop.a[s], tick - shop.i[s]
    return -shop.g[s], tick - shop.w[s]


def decode(m: pyo.ConcreteModel, instance: PipelineSchedulesInstance) -> PipelineSchedulesSolution:
    """Return the orders of the starts."""
    ops = operations(shop_of(instance))
    starts = {ops[o]: x for o, x in m.Y if pyo.value(m.y[o, x]) > 0.5}
    return solution_of(instance, starts)
