r"""The model of a fixed number of microbatches: starts are measured in parts of the makespan.

Sets: firings (a, k), :math:`k = 0, \dots, M - 1`; registers e; pairs (f, g) of firings of different
actors on one stream. Variables: the throughput z, so that the makespan is :math:`M / z`; starts
:math:`u_{ak} \in [0, 1]` in parts of it; :math:`y_{eR} = 1` if register e has R slots;
:math:`x_{fg} = 1` if f is before g.

.. math::
    \max\ & z                                                                        \\
    & u_{ck} - u_{p, k - \delta} \ge \tfrac{d_p}{M} z \quad \forall e,\ c \in C_e    \tag{D1} \\
    & u_{pk} - u_{c, k + \delta - R} \ge \tfrac{d_c}{M} z
      - (1 - \textstyle\sum_{Q \le R} y_{eQ}) \quad \forall e,\ c \in C_e,\ R      \tag{D2} \\
    & u_{a,k+1} - u_{ak} \ge \tfrac{d_a}{M} z, \quad u_{ak} + \tfrac{d_a}{M} z \le 1 \tag{D3} \\
    & u_g - u_f \ge \tfrac{d_f}{M} z - (1 - x_{fg}), \quad
      u_f - u_g \ge \tfrac{d_g}{M} z - x_{fg}                                        \tag{D4} \\
    & z \textstyle\sum_{a \in \sigma} d_a \le 1                                      \tag{D5} \\
    & \textstyle\sum_{e \in z} b_e R_e \le K_z                                       \tag{D6} \\
    & R_e = \textstyle\sum_R R\, y_{eR}, \quad \sum_R y_{eR} = 1                     \tag{D7}

A firing ends by 1: :math:`u_f + d_f z / M \le 1`, so (D4) says nothing where it is switched off,
and neither does (D2).
"""

from __future__ import annotations

import itertools
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ..instance import Firing, OneflowActorsInstance, OneflowActorsSolution
from .cyclic import add_memory, slot_bounds
from .decoding import orders_of

#: Pairs of firings; beyond, the model is too large to be of use.
#: Tuned: `benchmarks/constants.py`.
MOST_PAIRS = 50_000


@formulation(model_class="MILP", equations="(D1)-(D7)", backends=("highs", "scip"))
def build(instance: OneflowActorsInstance) -> pyo.ConcreteModel:
    """A binary variable for every pair of firings of a stream that may be exchanged."""
    M, actors, registers = microbatches(instance), instance.actors, instance.registers
    pairs = list(firing_pairs(instance))
    if len(pairs) > MOST_PAIRS:
        raise ModelRefused(f"actors: {len(pairs)} pairs of firings, at most {MOST_PAIRS}")
    d = [coefficient(actor.duration_s / M) for actor in actors]
    total = sum(actor.duration_s for actor in actors)
    loads = [sum(actors[a].duration_s for a in mine) for mine in instance.actors_of_stream.values()]
    streams = list(instance.actors_of_stream.values())

    m = pyo.ConcreteModel("disjunctive")
    m.A = pyo.Set(initialize=range(len(actors)), doc="actors")
    m.K = pyo.Set(initialize=range(M), doc="firings of an actor")
    m.E = pyo.Set(initialize=range(len(registers)), doc="registers")
    m.X = pyo.Set(initialize=range(len(pairs)), doc="pairs that may be exchanged")
    m.z = pyo.Var(
        bounds=(coefficient(1 / total), coefficient(1 / max(loads))),
        doc="throughput, microbatches a second",
    )
    m.u = pyo.Var(m.A, m.K, bounds=(0, 1), doc="starts, parts of the makespan")
    m.R = pyo.Var(m.E, domain=pyo.Integers, bounds=_up_to(instance, M), doc="slots")
    m.x = pyo.Var(m.X, domain=pyo.Binary, doc="the first of the pair is before the second")
    counts = [(e, R) for e in m.E for R in range(m.R[e].lb, m.R[e].ub + 1)]
    m.Y = pyo.Set(initialize=counts, dimen=2, doc="registers and their numbers of slots")
    m.y = pyo.Var(m.Y, domain=pyo.Binary, doc="a register has so many slots")

    items = [
        (e, c, k)
        for e, register in enumerate(registers)
        for c in register.consumers
        for k in range(register.initial, M)
    ]
    m.I = pyo.Set(initialize=items, dimen=3)

    @m.Constraint(m.I, doc="(D1): the item is there")
    def item(m: Any, e: int, c: int, k: int) -> Any:
        p = registers[e].producer
        return m.u[c, k] - m.u[p, k - registers[e].initial] >= d[p] * m.z

    free = [
        (e, c, R, k)
        for e, R in counts
        for c in registers[e].consumers
        for k in range(max(0, R - registers[e].initial), M)
        if k + registers[e].initial - R < M
    ]
    m.F = pyo.Set(initialize=free, dimen=4)

    @m.Constraint(m.F, doc="(D2): a slot is free")
    def slot(m: Any, e: int, c: int, R: int, k: int) -> Any:
        p, at_most = registers[e].producer, sum(m.y[f, Q] for f, Q in counts if f == e and Q <= R)
        before = m.u[c, k + registers[e].initial - R]
        return m.u[p, k] - before >= d[c] * m.z - (1 - at_most)

    @m.Constraint(m.A, m.K, doc="(D3): an actor fires one time after the other, to the end")
    def fires_in_order(m: Any, a: int, k: int) -> Any:
        return (m.u[a, k + 1] if k + 1 < M else 1) - m.u[a, k] >= d[a] * m.z

    @m.Constraint(m.X, doc="(D4): the second waits for the first")
    def second_waits(m: Any, n: int) -> Any:
        f, g = pairs[n]
        return m.u[g] - m.u[f] >= d[f[0]] * m.z - (1 - m.x[n])

    @m.Constraint(m.X, doc="(D4): or the first for the second")
    def first_waits(m: Any, n: int) -> Any:
        f, g = pairs[n]
        return m.u[f] - m.u[g] >= d[g[0]] * m.z - m.x[n]

    @m.Constraint(range(len(streams)), doc="(D5): a stream is not busier than always")
    def busy(m: Any, n: int) -> Any:
        mine = streams[n]
        return sum(coefficient(actors[a].duration_s) for a in mine) * m.z <= 1

    add_memory(m, instance)

    @m.Constraint(m.E, doc="(D7): one number of slots")
    def one_number(m: Any, e: int) -> Any:
        return sum(m.y[f, R] for f, R in counts if f == e) == 1

    @m.Constraint(m.E, doc="(D7): which is R")
    def number(m: Any, e: int) -> Any:
        return sum(R * m.y[f, R] for f, R in counts if f == e) == m.R[e]

    m.objective = pyo.Objective(expr=m.z, sense=pyo.maximize, doc="throughput")
    return m


def microbatches(instance: OneflowActorsInstance) -> int:
    """Return M.

    Raises
    ------
    ModelRefused
        If the instance asks for the steady state.
    """
    if instance.num_microbatches is None:
        raise ModelRefused("num_microbatches: not given, the model has so many firings")
    return instance.num_microbatches


def firing_pairs(instance: OneflowActorsInstance) -> list[tuple[Firing, Firing]]:
    """Return the pairs of firings of different actors that share a stream."""
    M = microbatches(instance)
    return [
        ((a, k), (b, j))
        for actors in instance.actors_of_stream.values()
        for a, b in itertools.combinations(actors, 2)
        for k in range(M)
        for j in range(M)
    ]


def _up_to(instance: OneflowActorsInstance, M: int) -> Any:
    """Return the bounds of slots; more than M and the initial items are never used."""
    bounds = slot_bounds(instance)

    def rule(m: Any, e: int) -> tuple[int, int]:
        least, most = bounds(m, e)
        return least, max(least, min(most, M + instance.registers[e].initial))

    return rule


def decode(m: pyo.ConcreteModel, instance: OneflowActorsInstance) -> OneflowActorsSolution:
    """Return the slots, and firings by how many of the pairs are before them."""
    before: dict[Firing, float] = {(a, k): float(k) for a in m.A for k in m.K}
    for n, (f, g) in enumerate(firing_pairs(instance)):
        before[g if pyo.value(m.x[n]) > 0.5 else f] += 1
    return OneflowActorsSolution(
        slots=tuple(round(pyo.value(m.R[e])) for e in m.E), orders=orders_of(instance, before)
    )
