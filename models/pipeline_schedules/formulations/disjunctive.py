r"""The disjunctive model: of two operations of a device one is before the other.

Sets: operations o = (k, s, j) of kind :math:`k \in \{F, I, W\}`, stage s, microbatch j, with
durations :math:`p_o`; on each device the pairs (a, b) that neither the route nor the order of
microbatches orders. Parameters: lags :math:`c_s`, memory :math:`a_s, g_s, K_d`, AllReduce
:math:`A_s`, a horizon H. Variables: starts :math:`t_o`; :math:`x_{ab} = 1` if a is before b; Z; for
a period the begins :math:`\sigma_d` of devices.

.. math::
    \min\ & Z                                                                        \\
    & t_o \ge t_q + p_q + c \quad \text{for what o waits for, and for microbatch } j - 1 \tag{M1} \\
    & t_b \ge t_a + p_a - H (1 - x_{ab}), \quad t_a \ge t_b + p_b - H x_{ab}           \tag{M2} \\
    & a_s + \sum_{q \ne o} \Delta_q [q \text{ before } o] \le K_d
      \quad \forall o = (F, s, j)                                                    \tag{M3} \\
    & Z \ge t_{W,s,j} + w_s + A_s, \text{ or } Z \ge t_{W,s,j} + w_s + A_s - \sigma_d
      \text{ and } \sigma_d \le t_{F,s,0}                                            \tag{M4} \\
    & Z \ge \text{the bounds (B1), (B3), (B4)}                                          \tag{M5}

In (M3) :math:`\Delta_F = a`, :math:`\Delta_I = -(a - g)`, :math:`\Delta_W = -g`, and
:math:`[q \text{ before } o]` is a constant, x or 1 - x. It is exact: memory grows at forwards only,
and operations of a device end before the next one starts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ..bounding import windows_bound
from ..cells import Operation
from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from ..shop import Shop, horizon_of, shop_of
from .decoding import duration, operations, solution_of
from .disjunctive_tasks import MOST_PAIRS, build_tasks, decode_tasks
from .tasks import has_options


@formulation(model_class="MILP", equations="(M1)-(M5), (N1)-(N7)")
def build(instance: PipelineSchedulesInstance) -> pyo.ConcreteModel:
    """A binary variable for every pair of operations of a device that may be exchanged.

    Where devices may do more than F, I and W, links serve one transfer at a time or weights are
    shared, it is the model of tasks (`disjunctive_tasks`).
    """
    if _needs_tasks(instance):
        return build_tasks(instance)
    shop = shop_of(instance)
    ops, H = operations(shop), horizon_of(shop, shop.horizon)
    pairs = list(free_pairs(shop))
    if len(pairs) > MOST_PAIRS:
        raise ModelRefused(f"routes: {len(pairs)} pairs of operations, at most {MOST_PAIRS}")

    m = pyo.ConcreteModel("disjunctive")
    m.O = pyo.Set(initialize=range(len(ops)), doc="operations")
    m.X = pyo.Set(initialize=range(len(pairs)), doc="pairs that may be exchanged")
    number = {op: n for n, op in enumerate(ops)}
    p = [duration(shop, op) for op in ops]
    m.t = pyo.Var(m.O, bounds=lambda m, o: (earliest(shop, ops[o]), H - p[o]), doc="starts, ticks")
    m.x = pyo.Var(m.X, domain=pyo.Binary, doc="the first of the pair is before the second")
    m.Z = pyo.Var(bounds=(0, H), doc="makespan or period, ticks")

    waits = [(number[o], number[q], lag) for o in ops for q, lag in waits_for(shop, o)]
    m.wait = pyo.Set(initialize=range(len(waits)))

    @m.Constraint(m.wait, doc="(M1): what an operation waits for")
    def route(m: Any, n: int) -> Any:
        o, q, lag = waits[n]
        return m.t[o] >= m.t[q] + p[q] + lag

    @m.Constraint(m.X, doc="(M2): the second waits for the first")
    def second_waits(m: Any, n: int) -> Any:
        a, b = (number[op] for op in pairs[n])
        return m.t[b] >= m.t[a] + p[a] - H * (1 - m.x[n])

    @m.Constraint(m.X, doc="(M2): or the first for the second")
    def first_waits(m: Any, n: int) -> Any:
        a, b = (number[op] for op in pairs[n])
        return m.t[a] >= m.t[b] + p[b] - H * m.x[n]

    _add_memory(m, shop, ops, pairs)
    _add_length(m, shop, number)
    tick = coefficient(Fraction(1, instance.ticks_per_s))
    m.objective = pyo.Objective(expr=tick * m.Z, doc="makespan or period, s")
    return m


def _needs_tasks(instance: PipelineSchedulesInstance) -> bool:
    shared = any(stage.weight_group is not None for stage in instance.stages)
    return has_options(instance) or shared or instance.links != "lag"


def _add_memory(
    m: pyo.ConcreteModel, shop: Shop, ops: list[Operation], pairs: list[tuple[Operation, Operation]]
) -> None:
    """Add (M3)."""
    if shop.capacity is None:
        return
    pair_of = {pair: n for n, pair in enumerate(pairs)}
    forwards = [o for o, op in enumerate(ops) if op.kind == "F"]
    capacity = shop.capacity

    @m.Constraint(forwards, doc="(M3): memory suffices when a forward starts")
    def memory(m: Any, o: int) -> Any:
        op = ops[o]
        level: Any = shop.a[op.stage]
        for q in ops:
            if shop.device[q.stage] != shop.device[op.stage] or q == op:
                continue
            change = {"F": shop.a, "I": _difference(shop), "W": [-g for g in shop.g]}[q.kind]
            if (q, op) in pair_of:
                level += change[q.stage] * m.x[pair_of[q, op]]
            elif (op, q) in pair_of:
                level += change[q.stage] * (1 - m.x[pair_of[op, q]])
            elif is_before(shop, q, op):
                level += change[q.stage]
        room = capacity[shop.device[op.stage]]
        if isinstance(level, int):
            return pyo.Constraint.Feasible if level <= room else pyo.Constraint.Infeasible
        return level <= room


def _difference(shop: Shop) -> list[int]:
    return [g - a for a, g in zip(shop.a, shop.g, strict=True)]


def _add_length(m: pyo.ConcreteModel, shop: Shop, number: dict[Operation, int]) -> None:
    """Add (M4) and (M5)."""
    devices = range(len(shop.on_device))
    stages = range(len(shop.device))
    m.begin = pyo.Var(devices, bounds=(0, None if shop.period else 0), doc="begins, ticks")

    @m.Constraint(stages, doc="(M4): a device begins by its first forward")
    def begins(m: Any, s: int) -> Any:
        return m.begin[shop.device[s]] <= m.t[number[Operation(s, "F", 0)]]

    @m.Constraint(stages, doc="(M4): Z lasts from the begin to the end of AllReduce")
    def spans(m: Any, s: int) -> Any:
        last = number[Operation(s, "W", shop.microbatches[s] - 1)]
        return m.Z + m.begin[shop.device[s]] >= m.t[last] + shop.w[s] + shop.allreduce[s]

    @m.Constraint(devices, doc="(M5): no schedule is shorter")
    def bounds(m: Any, d: int) -> Any:
        return windows_bound(shop, d) <= m.Z


def decode(m: pyo.ConcreteModel, instance: PipelineSchedulesInstance) -> PipelineSchedulesSolution:
    """Return the orders of the starts; x decides what starts within rounding of each other."""
    if _needs_tasks(instance):
        return decode_tasks(m, instance)
    shop = shop_of(instance)
    ops = operations(shop)
    before = dict.fromkeys(ops, 0)
    for n, (a, b) in enumerate(free_pairs(shop)):
        before[b if pyo.value(m.x[n]) > 0.5 else a] += 1
    for a, b in itertools.permutations(ops, 2):
        if shop.device[a.stage] == shop.device[b.stage] and is_before(shop, a, b):
            before[b] += 1
    return solution_of(instance, before)


def earliest(shop: Shop, op: Operation) -> int:
    """Return when an operation can start at the earliest, after those of its kind."""
    s = op.stage
    head = shop.head[s] + op.microbatch * duration(shop, op)
    if op.kind == "F":
        return head
    return head + shop.f[s] + shop.between[s] + (shop.i[s] if op.kind == "W" else 0)


def waits_for(shop: Shop, op: Operation) -> Iterator[tuple[Operation, int]]:
    """Yield what an operation waits for by route and microbatch, and the ticks between."""
    s, kind, j = op
    if j:
        yield Operation(s, kind, j - 1), 0
    if kind == "F" and s - 1 in shop.route_of[s]:
        yield Operation(s - 1, "F", j), shop.lag[s - 1]
    if kind == "I":
        yield Operation(s, "F", j), 0
        if s + 1 in shop.route_of[s]:
            yield Operation(s + 1, "I", j), shop.lag[s]
    if kind == "W":
        yield Operation(s, "I", j), 0


def is_before(shop: Shop, a: Operation, b: Operation) -> bool:
    """Return True if a is before b in all schedules with microbatches in order."""
    if a == b or b.stage not in shop.route_of[a.stage] or a.microbatch > b.microbatch:
        return False
    if a.kind == "F":
        return b.kind != "F" or a.stage <= b.stage
    if a.kind == "I":
        return b.kind != "F" and a.stage >= b.stage
    return b.kind == "W" and a.stage == b.stage


def free_pairs(shop: Shop) -> Iterator[tuple[Operation, Operation]]:
    """Yield the pairs of operations of a device that may be exchanged."""
    ops = operations(shop)
    for d in range(len(shop.on_device)):
        mine = [op for op in ops if shop.device[op.stage] == d]
        for a, b in itertools.combinations(mine, 2):
            if not is_before(shop, a, b) and not is_before(shop, b, a):
                yield a, b
