r"""The model over the period: starts are measured in parts of it, and so it is linear.

Sets: actors a with copies :math:`r = 0, \dots, J - 1`, every J-th firing from r on; registers e;
memories; pairs of copies of different actors on one stream. Parameters: durations :math:`d_a`,
initial items :math:`\delta_e`, bytes :math:`b_e`, memory :math:`K_z`. Variables: the throughput z;
starts :math:`u_{ar}` in rounds, which last :math:`J / z`; slots :math:`R_e`; integers
:math:`k_{ar,bq}`: b of round n + k runs between a of round n and a of round n + 1. With
:math:`\lfloor k \rfloor_J` the round and :math:`k \bmod J` the copy of firing k,

.. math::
    \max\ & z                                                                        \\
    & u_{cr} - u_{p, (r - \delta) \bmod J} \ge \tfrac{d_p}{J} z + \lfloor r - \delta \rfloor_J
      \quad \forall e,\ c \in C_e                                                    \tag{C1} \\
    & u_{pr} - u_{c, (r + \delta - R) \bmod J} \ge \tfrac{d_c}{J} z
      + \lfloor r + \delta - R \rfloor_J \quad \forall e,\ c \in C_e                 \tag{C2} \\
    & u_{a,r+1} - u_{ar} \ge \tfrac{d_a}{J} z, \quad
      u_{a0} + 1 - u_{a,J-1} \ge \tfrac{d_a}{J} z                                    \tag{C3} \\
    & u_{bq} - u_{ar} \ge \tfrac{d_a}{J} z - k, \quad
      u_{ar} - u_{bq} \ge \tfrac{d_b}{J} z - 1 + k                                   \tag{C4} \\
    & z \textstyle\sum_{a \in \sigma} d_a \le 1                                      \tag{C5} \\
    & \textstyle\sum_{e \in z} b_e R_e \le K_z                                       \tag{C6} \\
    & u_{00} = 0,\ |u| \le U,\ |k| \le 2 U + 2                                       \tag{C7} \\
    & R_e = \textstyle\sum_R R\, y_{eR},\ \sum_R y_{eR} = 1 \text{ if } J > 1        \tag{C8}

For J = 1 (C2) is linear in R; for J > 1 it holds for the R whose :math:`y_{eR}` is 1. U = 2 n J
suffices for n actors: whatever a schedule's starts within the rounds, their rounds have to obey
differences of at most 2.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ..instance import OneflowActorsInstance, OneflowActorsSolution
from .decoding import Event, stream_pairs, window_of, windows_of

#: Pairs that may be exchanged; beyond, the model is too large to be of use.
#: Tuned: `benchmarks/constants.py`.
MOST_PAIRS = 50_000


@formulation(model_class="MILP", equations="(C1)-(C8)", backends=("highs", "scip"))
def build(instance: OneflowActorsInstance) -> pyo.ConcreteModel:
    """Starts in parts of the period: the throughput is a variable, and nothing is multiplied."""
    J, actors, registers = window_of(instance), instance.actors, instance.registers
    pairs = list(stream_pairs(instance, J))
    if len(pairs) > MOST_PAIRS:
        raise ModelRefused(f"actors: {len(pairs)} pairs on streams, at most {MOST_PAIRS}")
    U = 2 * len(actors) * J
    d = [coefficient(actor.duration_s / J) for actor in actors]
    streams = list(instance.actors_of_stream.values())

    m = pyo.ConcreteModel("cyclic")
    m.A = pyo.Set(initialize=range(len(actors)), doc="actors")
    m.J = pyo.Set(initialize=range(J), doc="copies of an actor")
    m.E = pyo.Set(initialize=range(len(registers)), doc="registers")
    m.X = pyo.Set(initialize=range(len(pairs)), doc="pairs on one stream")
    m.z = pyo.Var(bounds=throughputs(instance), doc="throughput, microbatches a second")
    m.u = pyo.Var(m.A, m.J, bounds=(-U, U), doc="starts, rounds")
    m.R = pyo.Var(m.E, domain=pyo.Integers, bounds=slot_bounds(instance), doc="slots")
    m.k = pyo.Var(m.X, domain=pyo.Integers, bounds=(-2 * U - 2, 2 * U + 2), doc="rounds between")
    m.u[0, 0].fix(0)

    reads = [(e, c) for e, register in enumerate(registers) for c in register.consumers]
    m.C = pyo.Set(initialize=range(len(reads)), doc="registers and their consumers")

    @m.Constraint(m.C, m.J, doc="(C1): the item is there")
    def item(m: Any, n: int, r: int) -> Any:
        e, c = reads[n]
        p, (before, copy) = registers[e].producer, divmod(r - registers[e].initial, J)
        return m.u[c, r] - m.u[p, copy] >= d[p] * m.z + before

    if J == 1:

        @m.Constraint(m.C, doc="(C2): a slot is free")
        def slot(m: Any, n: int) -> Any:
            e, c = reads[n]
            p, delta = registers[e].producer, registers[e].initial
            return m.u[p, 0] - m.u[c, 0] >= d[c] * m.z - m.R[e] + delta

    else:
        _add_slots(m, instance, reads, d, U)

    @m.Constraint(m.A, m.J, doc="(C3): an actor fires one time after the other")
    def fires_in_order(m: Any, a: int, r: int) -> Any:
        later, copy = divmod(r + 1, J)
        if J == 1:
            return d[a] * m.z <= 1
        return m.u[a, copy] + later - m.u[a, r] >= d[a] * m.z

    @m.Constraint(m.X, doc="(C4): the second is after the first of its round")
    def after(m: Any, n: int) -> Any:
        a, b = pairs[n]
        return m.u[b] - m.u[a] >= d[a.actor] * m.z - m.k[n]

    @m.Constraint(m.X, doc="(C4): and before the first of the next round")
    def before_next(m: Any, n: int) -> Any:
        a, b = pairs[n]
        return m.u[a] - m.u[b] >= d[b.actor] * m.z - 1 + m.k[n]

    @m.Constraint(range(len(streams)), doc="(C5): a stream is not busier than always")
    def busy(m: Any, n: int) -> Any:
        mine = streams[n]
        return sum(coefficient(actors[a].duration_s) for a in mine) * m.z <= 1

    add_memory(m, instance)
    m.objective = pyo.Objective(expr=m.z, sense=pyo.maximize, doc="throughput")
    return m


def _add_slots(
    m: pyo.ConcreteModel,
    instance: OneflowActorsInstance,
    reads: list[tuple[int, int]],
    d: list[Any],
    U: int,
) -> None:
    """Add (C2) for J > 1, and (C8)."""
    J, registers = len(m.J), instance.registers
    counts = [(e, R) for e in m.E for R in range(m.R[e].lb, m.R[e].ub + 1)]
    m.Y = pyo.Set(initialize=counts, dimen=2, doc="registers and their numbers of slots")
    m.y = pyo.Var(m.Y, domain=pyo.Binary, doc="a register has so many slots")

    @m.Constraint(m.E, doc="(C8): one number of slots")
    def one_number(m: Any, e: int) -> Any:
        return sum(m.y[f, R] for f, R in counts if f == e) == 1

    @m.Constraint(m.E, doc="(C8): which is R")
    def number(m: Any, e: int) -> Any:
        return sum(R * m.y[f, R] for f, R in counts if f == e) == m.R[e]

    free = [(n, R) for n, (e, _) in enumerate(reads) for f, R in counts if f == e]
    m.F = pyo.Set(initialize=free, dimen=2)

    @m.Constraint(m.F, m.J, doc="(C2): a slot is free")
    def slot(m: Any, n: int, R: int, r: int) -> Any:
        e, c = reads[n]
        p, (before, copy) = registers[e].producer, divmod(r + registers[e].initial - R, J)
        # Where u are at most U apart, the row says nothing unless y = 1.
        apart = 2 * U + 1 + max(before, 0)
        return m.u[p, r] - m.u[c, copy] >= d[c] * m.z + before - apart * (1 - m.y[e, R])


def throughputs(instance: OneflowActorsInstance) -> tuple[Any, Any]:
    """Return bounds on the throughput: all actors one after another, and the busiest stream."""
    total = sum(actor.duration_s for actor in instance.actors)
    loads = [
        sum(instance.actors[a].duration_s for a in actors)
        for actors in instance.actors_of_stream.values()
    ]
    return coefficient(1 / total), coefficient(1 / max(loads))


def slot_bounds(instance: OneflowActorsInstance) -> Any:
    """Return a rule with the fewest and most slots of each register that memory holds."""
    capacity = {zone.name: zone.capacity_bytes for zone in instance.zones}
    fewest = tuple(register.fewest for register in instance.registers)

    def bounds(_: Any, e: int) -> tuple[int, int]:
        register = instance.registers[e]
        most = register.most
        if register.zone in capacity and register.slot_bytes:
            room = capacity[register.zone] - instance.used_bytes(register.zone, fewest)
            more = int(room // register.slot_bytes) if room > 0 else 0
            most = min(most, register.fewest + more)
        return register.fewest, most

    return bounds


def add_memory(m: pyo.ConcreteModel, instance: OneflowActorsInstance) -> None:
    """Add (C6)."""

    @m.Constraint(range(len(instance.zones)), doc="(C6): memories hold the slots")
    def memory(m: Any, n: int) -> Any:
        zone = instance.zones[n]
        mine = instance.registers_of_zone[zone.name]
        used = sum(coefficient(instance.registers[e].slot_bytes) * m.R[e] for e in mine)
        if isinstance(used, int | float) or not any(instance.registers[e].slot_bytes for e in mine):
            return pyo.Constraint.Skip
        return used <= coefficient(zone.capacity_bytes)


def decode(m: pyo.ConcreteModel, instance: OneflowActorsInstance) -> OneflowActorsSolution:
    """Return the slots, and the windows that the integers k describe."""
    J = window_of(instance)
    rounds: dict[tuple[Event, Event], int] = {
        pair: round(pyo.value(m.k[n])) for n, pair in enumerate(stream_pairs(instance, J))
    }
    return OneflowActorsSolution(
        slots=tuple(round(pyo.value(m.R[e])) for e in m.E),
        orders=windows_of(instance, J, rounds),
    )
