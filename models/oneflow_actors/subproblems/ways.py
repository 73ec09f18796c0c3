"""Longest ways, the slots that they ask for, and the least period that memory allows."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction

from ..instance import OneflowActorsInstance


@dataclass(frozen=True)
class Lifetimes:
    """How long items live at least, and why.

    Attributes
    ----------
    ticks : list of int
        :math:`L_e` of each register; 0 with items at the start.
    ways : list of tuple of int
        The actors of the longest way; empty with items at the start.
    """

    ticks: list[int]
    ways: list[tuple[int, ...]]


def lifetimes(instance: OneflowActorsInstance) -> Lifetimes:
    """Return the longest ways from the producer of each register to the end of a consumer."""
    reads: list[list[int]] = [[] for _ in instance.actors]
    for register in instance.registers:
        if not register.initial:
            for c in register.consumers:
                reads[c].append(register.producer)
    of_producer: dict[int, tuple[list[int | None], list[int]]] = {}
    ticks: list[int] = []
    ways: list[tuple[int, ...]] = []
    for register in instance.registers:
        if register.initial:
            ticks.append(0)
            ways.append(())
            continue
        p = register.producer
        if p not in of_producer:
            of_producer[p] = _longest_from(instance, p, reads)
        far, before = of_producer[p]
        ends = [(x + instance.ticks[c], c) for c in register.consumers if (x := far[c]) is not None]
        length, last = max(ends)
        way = [last]
        while way[-1] != p:
            way.append(before[way[-1]])
        ticks.append(length)
        ways.append(tuple(reversed(way)))
    return Lifetimes(ticks, ways)


def _longest_from(
    instance: OneflowActorsInstance, source: int, reads: list[list[int]]
) -> tuple[list[int | None], list[int]]:
    """Return the longest ways from the start of an actor to the starts of others."""
    far: list[int | None] = [None] * len(instance.actors)
    before = [-1] * len(far)
    far[source] = 0
    for a in instance.topological:
        for p in reads[a]:
            start = far[p]
            if start is None:
                continue
            length = start + instance.ticks[p]
            known = far[a]
            if known is None or length > known:
                far[a], before[a] = length, p
    return far, before


def slots_for(instance: OneflowActorsInstance, life: Lifetimes, period: Fraction) -> list[int]:
    """Return the fewest slots at a period in ticks, by the ways: the rule of the Improver."""
    return [
        max(register.fewest, -(-length // period) if length else 1)
        for register, length in zip(instance.registers, life.ticks, strict=True)
    ]


@dataclass(frozen=True)
class LeastPeriod:
    """The least period whose slots memory holds.

    Attributes
    ----------
    ticks : Fraction
    register_number : int or None
        Which register would ask for one slot more at a shorter period; None if the load decides.
    slots : int
        How many it has.
    """

    ticks: Fraction
    register_number: int | None = None
    slots: int = 0


def least_period(instance: OneflowActorsInstance, life: Lifetimes, load: int) -> LeastPeriod:
    """Return the least period from the load on, in ticks, whose slots memory holds.

    From long periods to short ones, registers ask for one slot more at :math:`L_e / n`, one after
    the other.
    """
    slots = [register.fewest for register in instance.registers]
    queue = [
        (-Fraction(length, n), e)
        for e, (length, n) in enumerate(zip(life.ticks, slots, strict=True))
        if length
    ]
    heapq.heapify(queue)
    room = {
        zone.name: zone.capacity_bytes - instance.used_bytes(zone.name, tuple(slots))
        for zone in instance.zones
    }
    while queue and -queue[0][0] > load:
        period, e = -queue[0][0], queue[0][1]
        register = instance.registers[e]
        if register.zone in room:
            room[register.zone] -= register.slot_bytes
        if slots[e] == register.most or room.get(register.zone, 0) < 0:
            return LeastPeriod(period, e, slots[e])
        slots[e] += 1
        heapq.heapreplace(queue, (-Fraction(life.ticks[e], slots[e]), e))
    return LeastPeriod(Fraction(load))
