r"""The model with starts in seconds: what waits a round waits a period, and so it is bilinear.

Sets and parameters as in `cyclic`, for J = 1. Variables: the period :math:`\lambda` and the
throughput z; starts :math:`s_a`; slots :math:`R_e`; integers :math:`k_{ab}`.

.. math::
    \max\ & z, \quad z \lambda = 1                                                   \tag{B1} \\
    & s_c - s_p \ge d_p - \delta \lambda \quad \forall e,\ c \in C_e                 \tag{B2} \\
    & s_p - s_c \ge d_c - (R_e - \delta) \lambda \quad \forall e,\ c \in C_e         \tag{B3} \\
    & s_b - s_a \ge d_a - k_{ab} \lambda, \quad s_a - s_b \ge d_b - (1 - k_{ab}) \lambda
                                                                                     \tag{B4} \\
    & \lambda \ge \textstyle\sum_{a \in \sigma} d_a                                  \tag{B5} \\
    & \textstyle\sum_{e \in z} b_e R_e \le K_z                                       \tag{B6}

Divided by :math:`\lambda` it is `cyclic`.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ..instance import OneflowActorsInstance, OneflowActorsSolution
from .cyclic import MOST_PAIRS, add_memory, slot_bounds, throughputs
from .decoding import stream_pairs, window_of, windows_of


@formulation(model_class="MINLP", equations="(B1)-(B6)", backends=("scip",))
def build(instance: OneflowActorsInstance) -> pyo.ConcreteModel:
    """Starts in seconds: slots and rounds are multiplied by the period."""
    J, actors, registers = window_of(instance), instance.actors, instance.registers
    if J > 1:
        raise ModelRefused(f"window: {J}, the model has one firing of each actor in a window")
    pairs = list(stream_pairs(instance, 1))
    if len(pairs) > MOST_PAIRS:
        raise ModelRefused(f"actors: {len(pairs)} pairs on streams, at most {MOST_PAIRS}")
    U = 2 * len(actors)
    d = [coefficient(actor.duration_s) for actor in actors]
    longest = sum(actor.duration_s for actor in actors)
    loads = [sum(actors[a].duration_s for a in mine) for mine in instance.actors_of_stream.values()]
    streams = list(instance.actors_of_stream.values())

    m = pyo.ConcreteModel("bilinear")
    m.A = pyo.Set(initialize=range(len(actors)), doc="actors")
    m.E = pyo.Set(initialize=range(len(registers)), doc="registers")
    m.X = pyo.Set(initialize=range(len(pairs)), doc="pairs on one stream")
    m.z = pyo.Var(bounds=throughputs(instance), doc="throughput, microbatches a second")
    m.period = pyo.Var(bounds=(coefficient(max(loads)), coefficient(longest)), doc="period, s")
    m.s = pyo.Var(
        m.A, bounds=(coefficient(-U * longest), coefficient(U * longest)), doc="starts, s"
    )
    m.R = pyo.Var(m.E, domain=pyo.Integers, bounds=slot_bounds(instance), doc="slots")
    m.k = pyo.Var(m.X, domain=pyo.Integers, bounds=(-2 * U - 2, 2 * U + 2), doc="rounds between")
    m.s[0].fix(0)

    reads = [(e, c) for e, register in enumerate(registers) for c in register.consumers]
    m.C = pyo.Set(initialize=range(len(reads)), doc="registers and their consumers")

    @m.Constraint(doc="(B1): the throughput is one over the period")
    def throughput(m: Any) -> Any:
        return m.z * m.period == 1

    @m.Constraint(m.C, doc="(B2): the item is there")
    def item(m: Any, n: int) -> Any:
        e, c = reads[n]
        p, delta = registers[e].producer, registers[e].initial
        return m.s[c] - m.s[p] + delta * m.period >= d[p]

    @m.Constraint(m.C, doc="(B3): a slot is free")
    def slot(m: Any, n: int) -> Any:
        e, c = reads[n]
        p, delta = registers[e].producer, registers[e].initial
        return m.s[p] - m.s[c] + (m.R[e] - delta) * m.period >= d[c]

    @m.Constraint(m.X, doc="(B4): the second is after the first of its round")
    def after(m: Any, n: int) -> Any:
        a, b = pairs[n][0].actor, pairs[n][1].actor
        return m.s[b] - m.s[a] + m.k[n] * m.period >= d[a]

    @m.Constraint(m.X, doc="(B4): and before the first of the next round")
    def before_next(m: Any, n: int) -> Any:
        a, b = pairs[n][0].actor, pairs[n][1].actor
        return m.s[a] - m.s[b] + (1 - m.k[n]) * m.period >= d[b]

    @m.Constraint(range(len(streams)), doc="(B5): a stream works in every period")
    def busy(m: Any, n: int) -> Any:
        return m.period >= sum(d[a] for a in streams[n])

    add_memory(m, instance)
    m.objective = pyo.Objective(expr=m.z, sense=pyo.maximize, doc="throughput")
    return m


def decode(m: pyo.ConcreteModel, instance: OneflowActorsInstance) -> OneflowActorsSolution:
    """Return the slots, and the windows that the integers k describe."""
    rounds = {pair: round(pyo.value(m.k[n])) for n, pair in enumerate(stream_pairs(instance, 1))}
    return OneflowActorsSolution(
        slots=tuple(round(pyo.value(m.R[e])) for e in m.E),
        orders=windows_of(instance, 1, rounds),
    )
