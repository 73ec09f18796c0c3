r"""Certificates of upper bounds on the throughput: cycles, ways, rounds, work of a stream.

All bound the period :math:`\lambda` from below, whatever the slots, orders and rules, or the
makespan of M microbatches.

**Cycles.** A cycle C of items, slots and actors has the length d(C), :math:`n_{Ce}` waits for slots
of register e, and the tokens :math:`m_0(C) + \sum_e n_{Ce} R_e`: an item counts
:math:`\delta_e`, a slot :math:`R_e - \delta_e`, an actor itself 1. So
:math:`\lambda\,(m_0(C) + \sum_e n_{Ce} R_e) \ge d(C)`, and :math:`\lambda \ge` the load of a
stream. With weights :math:`y_C, \mu_\sigma \ge 0` and :math:`F_e = \sum_C y_C n_{Ce}`

.. math::
    \lambda \ge \frac{\sum_C y_C d(C) + \sum_\sigma \mu_\sigma \mathrm{load}_\sigma}
    {\sum_C y_C m_0(C) + \sum_\sigma \mu_\sigma + \Phi}, \qquad
    \Phi = \max \Big\{ \sum_e F_e R_e : \sum_{e \in z} b_e R_e \le K_z,
    R^{min}_e \le R_e \le R^{max}_e \Big\}                                          \tag{11}

where R need not be whole: :math:`\Phi` takes the registers of each memory by :math:`F_e / b_e`.

**Ways.** An item of register e lives at least as long as a way from its producer to the end of a
consumer, :math:`L_e`. On average :math:`L_e / \lambda` of its items live at once, so
:math:`R_e \ge \lceil L_e / \lambda \rceil`. If a memory does not hold
:math:`\sum_e b_e \max(R^{min}_e, \lfloor L_e / \bar\lambda \rfloor + 1)`, or one of these is more
than :math:`R^{max}_e`, no period is less than :math:`\bar\lambda`; here
:math:`\bar\lambda = L_f / n` for a register f and a number n.

**Rounds.** From firing k of actor x to its firing k + 1 lead cycles of items, with one initial item
on each. Of every actor on them one firing lies between these two; those of one stream one after the
other: :math:`\lambda \ge d_x + \sum_a d_a`.

**Work.** Actors of one stream fire M times each; before the first of these lies the shortest of
their heads, after the last the shortest of their tails, longest ways from the start and to the end.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from gadgetopt.system.data import Certificate, Data, NonNegativeInt, PositiveInt, Rational

from ..instance import OneflowActorsInstance


class Wait(Data):
    """An arc of a cycle: a consumer waits for an item, a producer for a slot, an actor for itself.

    Attributes
    ----------
    kind : "item", "slot" or "self"
    register_number : int
        Of an item or a slot; of an actor that waits for itself its own number.
    consumer : int
        The consumer of the register; for an actor that waits for itself 0.
    """

    kind: Literal["item", "slot", "self"]
    register_number: NonNegativeInt
    consumer: NonNegativeInt = 0


class WeightedCycle(Data):
    """A cycle of waits, each beginning where the one before ends, and its weight."""

    weight: Rational
    waits: Annotated[tuple[Wait, ...], Field(min_length=1)]


class WeightedStream(Data):
    """A stream by its number, and the weight of its load."""

    weight: Rational
    stream: NonNegativeInt


class Cycles(Data):
    """Weights on cycles and loads, (11)."""

    kind: Literal["cycles"] = "cycles"
    cycles: tuple[WeightedCycle, ...] = ()
    streams: tuple[WeightedStream, ...] = ()


class Ways(Data):
    """Ways from the producers of registers to consumers, and the register and number that bound.

    Attributes
    ----------
    ways : tuple of tuple of int
        Each a register and then the actors on the way, the first its producer, the last a consumer
        of it. Of a register without a way :math:`L_e = 0`.
    register_number, slots : int
        f and n.
    """

    kind: Literal["ways"] = "ways"
    ways: tuple[tuple[NonNegativeInt, ...], ...]
    register_number: NonNegativeInt
    slots: PositiveInt


class Round(Data):
    """Cycles of items through an actor, with one initial item each, and a stream.

    Attributes
    ----------
    actor : int
        x.
    cycles : tuple of tuple of Wait
        Each begins with an item of x and ends with one that x reads.
    stream : int
        Another stream than that of x; its actors on the cycles count.
    """

    kind: Literal["round"] = "round"
    actor: NonNegativeInt
    cycles: Annotated[tuple[tuple[Wait, ...], ...], Field(min_length=1)]
    stream: NonNegativeInt


class Work(Data):
    """Actors of one stream that fire for all microbatches."""

    kind: Literal["work"] = "work"
    actors: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)]


Proof = Cycles | Ways | Round | Work


class OneflowActorsCertificate(Certificate):
    """A proof of an upper bound on the throughput."""

    proof: Annotated[Proof, Field(discriminator="kind")]


def check_bound(
    instance: OneflowActorsInstance, certificate: OneflowActorsCertificate
) -> Fraction | None:
    """Return the upper bound on the throughput that a certificate proves; None if it proves none.

    Raises
    ------
    ValueError
        If it names what the instance does not have, or waits that are no cycle.
    """
    proof, M = certificate.proof, instance.num_microbatches
    if isinstance(proof, Work):
        if M is None:
            return None
        return M / least_makespan(instance, proof.actors)
    if M is not None:
        return None
    period = least_period(instance, proof)
    return None if period is None else 1 / period


def least_period(instance: OneflowActorsInstance, proof: Cycles | Ways | Round) -> Fraction | None:
    """Return the lower bound on the period in seconds; None if there is none."""
    if isinstance(proof, Cycles):
        return _by_cycles(instance, proof)
    if isinstance(proof, Ways):
        return _by_ways(instance, proof)
    return _by_round(instance, proof)


# -- cycles ------------------------------------------------------------------------------------


def _by_cycles(instance: OneflowActorsInstance, proof: Cycles) -> Fraction | None:
    length, tokens = Fraction(0), Fraction(0)
    factor = [Fraction(0)] * len(instance.registers)  # F_e
    for n, cycle in enumerate(proof.cycles):
        _check_weight(cycle.weight, f"cycles[{n}]")
        ends = _closed(instance, cycle.waits, n)
        length += cycle.weight * sum(instance.actors[source].duration_s for source, _ in ends)
        for wait in cycle.waits:
            tokens += cycle.weight * _fixed_tokens(instance, wait)
            if wait.kind == "slot":
                factor[wait.register_number] += cycle.weight
    streams = list(instance.actors_of_stream.values())
    for weighted in proof.streams:
        _check_weight(weighted.weight, "streams")
        _check(weighted.stream, len(streams), "stream")
        work = sum(instance.actors[a].duration_s for a in streams[weighted.stream])
        length, tokens = length + weighted.weight * work, tokens + weighted.weight
    tokens += _most_slots(instance, factor)
    return length / tokens if length > 0 and tokens > 0 else None


def _closed(
    instance: OneflowActorsInstance, waits: Sequence[Wait], n: int
) -> list[tuple[int, int]]:
    """Return the actors of each wait of cycle n, which must end where the next one begins."""
    ends = [_arc(instance, wait) for wait in waits]
    for (_, target), (source, _) in itertools.pairwise([*ends, ends[0]]):
        if target != source:
            raise ValueError(f"cycles[{n}]: a wait ends at actor {target}, the next at {source}")
    return ends


def _arc(instance: OneflowActorsInstance, wait: Wait) -> tuple[int, int]:
    """Return who is waited for, and who waits."""
    if wait.kind == "self":
        _check(wait.register_number, len(instance.actors), "actor")
        return wait.register_number, wait.register_number
    _check(wait.register_number, len(instance.registers), "register")
    register = instance.registers[wait.register_number]
    if wait.consumer not in register.consumers:
        raise ValueError(
            f"consumer: {wait.consumer}, does not read register {wait.register_number}"
        )
    if wait.kind == "item":
        return register.producer, wait.consumer
    return wait.consumer, register.producer


def _fixed_tokens(instance: OneflowActorsInstance, wait: Wait) -> int:
    if wait.kind == "self":
        return 1
    initial = instance.registers[wait.register_number].initial
    return initial if wait.kind == "item" else -initial


def _most_slots(instance: OneflowActorsInstance, factor: Sequence[Fraction]) -> Fraction:
    r"""Return :math:`\Phi`: registers that are worth most for a byte first, up to their bounds."""
    capacity = {zone.name: zone.capacity_bytes for zone in instance.zones}
    most = Fraction(0)
    for zone, numbers in instance.registers_of_zone.items():
        registers = [(factor[e], instance.registers[e]) for e in numbers]
        most += sum(F * register.fewest for F, register in registers)
        room = None
        if zone in capacity:
            room = capacity[zone] - sum(r.slot_bytes * r.fewest for _, r in registers)
            if room < 0:  # nothing is feasible: no bound is needed
                continue
        registers = [(F, r) for F, r in registers if F]
        free = [(F, r) for F, r in registers if room is None or not r.slot_bytes]
        most += sum(F * (r.most - r.fewest) for F, r in free)
        if room is None:
            continue
        paid = [(F / r.slot_bytes, r) for F, r in registers if r.slot_bytes]
        for worth, r in sorted(paid, key=lambda item: -item[0]):
            taken = min(room, r.slot_bytes * (r.most - r.fewest))
            most, room = most + worth * taken, room - taken
    return most


# -- ways --------------------------------------------------------------------------------------


def _by_ways(instance: OneflowActorsInstance, proof: Ways) -> Fraction | None:
    longest = [Fraction(0)] * len(instance.registers)
    reads = {
        (register.producer, c)
        for register in instance.registers
        if not register.initial
        for c in register.consumers
    }
    for n, way in enumerate(proof.ways):
        if len(way) < 3:
            raise ValueError(f"ways[{n}]: {list(way)}, expected a register and at least two actors")
        e, *actors = way
        _check(e, len(instance.registers), "register")
        register = instance.registers[e]
        if register.initial or actors[0] != register.producer:
            raise ValueError(f"ways[{n}]: register {e} has no item of actor {actors[0]} alone")
        if actors[-1] not in register.consumers:
            raise ValueError(f"ways[{n}]: actor {actors[-1]} does not read register {e}")
        for step in itertools.pairwise(actors):
            if step not in reads:
                raise ValueError(f"ways[{n}]: actor {step[1]} does not wait for {step[0]}")
        length = sum((instance.actors[a].duration_s for a in actors), Fraction(0))
        longest[e] = max(longest[e], length)
    _check(proof.register_number, len(longest), "register")
    period = longest[proof.register_number] / proof.slots
    return period if period > 0 and _too_many(instance, longest, period) else None


def _too_many(
    instance: OneflowActorsInstance, longest: Sequence[Fraction], period: Fraction
) -> bool:
    """Return True if slots for a period just below this one are not possible."""
    needed = tuple(
        max(register.fewest, int(length // period) + 1)
        for register, length in zip(instance.registers, longest, strict=True)
    )
    return not instance.fits(needed)


# -- rounds ------------------------------------------------------------------------------------


def _by_round(instance: OneflowActorsInstance, proof: Round) -> Fraction:
    streams = list(instance.actors_of_stream.values())
    _check(proof.actor, len(instance.actors), "actor")
    _check(proof.stream, len(streams), "stream")
    if proof.actor in streams[proof.stream]:
        raise ValueError(f"stream: {proof.stream}, expected another one than that of the actor")
    between: set[int] = set()
    for n, waits in enumerate(proof.cycles):
        if any(wait.kind != "item" for wait in waits) or not waits:
            raise ValueError(f"cycles[{n}]: expected items only")
        ends = _closed(instance, waits, n)
        if ends[0][0] != proof.actor:
            raise ValueError(f"cycles[{n}]: begins at {ends[0][0]}, expected {proof.actor}")
        tokens = sum(_fixed_tokens(instance, wait) for wait in waits)
        if tokens != 1:
            raise ValueError(f"cycles[{n}]: {tokens} initial items, expected 1")
        between |= {source for source, _ in ends}
    counted = between & set(streams[proof.stream])
    work = sum((instance.actors[a].duration_s for a in counted), Fraction(0))
    return instance.actors[proof.actor].duration_s + work


# -- work --------------------------------------------------------------------------------------


def least_makespan(instance: OneflowActorsInstance, actors: Sequence[int]) -> Fraction:
    """Return the shortest head, M times the work, and the shortest tail, in seconds."""
    n, M = len(instance.actors), instance.num_microbatches or 1
    for a in actors:
        _check(a, n, "actor")
    if len(set(actors)) < len(actors):
        raise ValueError(f"actors: {list(actors)}, expected different ones")
    if len({instance.actors[a].stream for a in actors}) > 1:
        raise ValueError(f"actors: {list(actors)}, expected actors of one stream")
    duration = [actor.duration_s for actor in instance.actors]
    head, tail = [Fraction(0)] * n, [Fraction(0)] * n
    reads: list[list[int]] = [[] for _ in range(n)]
    for register in instance.registers:
        if not register.initial:
            for c in register.consumers:
                reads[c].append(register.producer)
    for a in instance.topological:
        head[a] = max((head[p] + duration[p] for p in reads[a]), default=Fraction(0))
    for a in reversed(instance.topological):
        for p in reads[a]:
            tail[p] = max(tail[p], duration[a] + tail[a])
    work = sum((duration[a] for a in actors), Fraction(0))
    return min(head[a] for a in actors) + M * work + min(tail[a] for a in actors)


def _check(number: int, count: int, name: str) -> None:
    if number >= count:
        raise ValueError(f"{name}: {number}, there are {count}")


def _check_weight(weight: Fraction, where: str) -> None:
    if weight < 0:
        raise ValueError(f"{where}.weight: {weight}, expected at least 0")
