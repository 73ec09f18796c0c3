"""Instances and solutions: actors on streams, registers between them; slots, and who fires when."""

from __future__ import annotations

import graphlib
import heapq
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticKnownError

from gadgetopt.numbers.exact import common_denominator
from gadgetopt.system.data import (
    Data,
    Instance,
    NonNegativeInt,
    PositiveInt,
    Rational,
    Solution,
)

#: Times in seconds and amounts of memory in bytes. By definition.
MOST_AMOUNT = 10**30
#: What files may ask for at most: actors, slots of a register. By definition.
MOST_ACTORS, MOST_SLOTS = 100_000, 10_000


def _positive(value: Fraction) -> Fraction:
    if value <= 0:
        raise PydanticKnownError("greater_than", {"gt": 0.0})
    return _realistic(value)


def _realistic(value: Fraction) -> Fraction:
    if value < 0:
        raise PydanticKnownError("greater_than_equal", {"ge": 0})
    if value > MOST_AMOUNT:
        raise PydanticKnownError("less_than_equal", {"le": MOST_AMOUNT})
    return value


PositiveAmount = Annotated[Rational, AfterValidator(_positive)]
Amount = Annotated[Rational, AfterValidator(_realistic)]
Name = Annotated[str, Field(min_length=1)]
Slots = Annotated[int, Field(gt=0, le=MOST_SLOTS)]


class Actor(Data):
    r"""An operator, a copy or a collective: it fires once for every microbatch.

    Attributes
    ----------
    duration_s : Fraction
        :math:`d_a`.
    stream : str
        :math:`\sigma_a`: executes one firing at a time, such as the kernels of a device or a link.
    name : str
    """

    duration_s: PositiveAmount
    stream: Name
    name: str = ""


class Register(Data):
    r"""A tensor between an actor and those that read it, kept in slots that are used in turn.

    Attributes
    ----------
    producer : int
        :math:`p_e`, the number of an actor.
    consumers : tuple of int
        :math:`C_e`: a slot is free again when all of them have read it.
    slot_bytes : Fraction
        :math:`b_e`, of one slot.
    zone : str
        The memory that it lies in.
    initial : int
        :math:`\delta_e`: items that are there at the start, such as weights; firing
        :math:`k + \delta_e` of a consumer reads item k.
    least, most : int
        Bounds on the number of slots, :math:`R_e`.
    published_slots : int
        What OneFlow's plan gives this register.
    """

    producer: NonNegativeInt
    consumers: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)]
    slot_bytes: Amount = Fraction(1)
    zone: Name = "memory"
    initial: Annotated[int, Field(ge=0, le=MOST_SLOTS)] = 0
    least: Slots = 1
    most: Slots = 64
    published_slots: Slots = 1

    @property
    def fewest(self) -> int:
        """The fewest slots: the initial items need one each."""
        return max(self.least, self.initial)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if len(set(self.consumers)) < len(self.consumers):
            raise ValueError(f"consumers: {list(self.consumers)}, expected different actors")
        if self.fewest > self.most:
            name = "least" if self.least > self.most else "initial"
            raise ValueError(f"{name}: {self.fewest} of at most {self.most} slots")
        if self.producer in self.consumers and not self.initial:
            raise ValueError(f"initial: 0, but actor {self.producer} waits for itself")
        return self


class Zone(Data):
    """A memory of limited size.

    Attributes
    ----------
    name : str
    capacity_bytes : Fraction
        :math:`K_z`.
    """

    name: Name
    capacity_bytes: Amount


class OneflowActorsInstance(Instance):
    """A graph of actors that exchange tensors through registers.

    Attributes
    ----------
    actors : tuple of Actor
    registers : tuple of Register
    zones : tuple of Zone
        Memories with a limit; a zone that is not listed has none.
    num_microbatches : int, optional
        M: the throughput is M over the time until all actors have fired M times. None: that of the
        steady state, one over the period.
    window : int, optional
        Streams repeat an order in which every actor fires so often. None: any order and any rule.
    """

    actors: Annotated[tuple[Actor, ...], Field(min_length=1, max_length=MOST_ACTORS)]
    registers: tuple[Register, ...] = ()
    zones: tuple[Zone, ...] = ()
    num_microbatches: PositiveInt | None = None
    window: Annotated[int, Field(gt=0, le=1000)] | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        n = len(self.actors)
        for e, register in enumerate(self.registers):
            for a in (register.producer, *register.consumers):
                if a >= n:
                    name = "producer" if a == register.producer else "consumers"
                    raise ValueError(f"registers[{e}].{name}: {a}, there are {n} actors")
        names = [zone.name for zone in self.zones]
        if len(set(names)) < len(names):
            raise ValueError(f"zones: {', '.join(names)}, expected different names")
        used = {register.zone for register in self.registers}
        for zone in self.zones:
            if zone.name not in used:
                raise ValueError(f"zones: no register lies in {zone.name!r}")
        if self.window is not None and self.num_microbatches is not None:
            raise ValueError("window: given, but with num_microbatches nothing is repeated")
        self._check_waits()
        self._check_connected()
        common_denominator(actor.duration_s for actor in self.actors)
        common_denominator(self._bytes)
        return self

    def _check_waits(self) -> None:
        """Refuse actors that wait for each other before any of them has fired."""
        waits: dict[int, set[int]] = {a: set() for a in range(len(self.actors))}
        for register in self.registers:
            if not register.initial:
                for c in register.consumers:
                    waits[c].add(register.producer)
        try:
            tuple(graphlib.TopologicalSorter(waits).static_order())
        except graphlib.CycleError as error:
            cycle = " -> ".join(map(str, error.args[1][::-1]))
            raise ValueError(f"registers: actors wait for each other for ever: {cycle}") from None

    def _check_connected(self) -> None:
        """Refuse parts that share no register and no stream: each is an instance of its own."""
        group = list(range(len(self.actors)))

        def find(a: int) -> int:
            while group[a] != a:
                group[a] = group[group[a]]
                a = group[a]
            return a

        joined = [(r.producer, c) for r in self.registers for c in r.consumers]
        for actors in self.actors_of_stream.values():
            joined += [(actors[0], a) for a in actors[1:]]
        for a, b in joined:
            group[find(a)] = find(b)
        apart = next((a for a in range(len(group)) if find(a) != find(0)), None)
        if apart is not None:
            raise ValueError(
                f"registers: actors 0 and {apart} share no register and no stream, expected one "
                "instance for each part"
            )

    @cached_property
    def actors_of_stream(self) -> dict[str, list[int]]:
        """The actors of each stream, in the order of first use."""
        found: dict[str, list[int]] = {}
        for a, actor in enumerate(self.actors):
            found.setdefault(actor.stream, []).append(a)
        return found

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of the streams."""
        return tuple(self.actors_of_stream)

    @property
    def own_streams(self) -> bool:
        """True if no two actors share a stream."""
        return len(self.actors_of_stream) == len(self.actors)

    @cached_property
    def registers_of_zone(self) -> dict[str, list[int]]:
        """The registers of each memory, limited or not."""
        found: dict[str, list[int]] = {}
        for e, register in enumerate(self.registers):
            found.setdefault(register.zone, []).append(e)
        return found

    @cached_property
    def topological(self) -> tuple[int, ...]:
        """The actors, each after those whose first item it waits for; small numbers first."""
        count = [0] * len(self.actors)
        after: list[list[int]] = [[] for _ in self.actors]
        for register in self.registers:
            if not register.initial:
                for c in register.consumers:
                    after[register.producer].append(c)
                    count[c] += 1
        ready = [a for a, missing in enumerate(count) if not missing]
        order = []
        while ready:
            a = heapq.heappop(ready)
            order.append(a)
            for c in after[a]:
                count[c] -= 1
                if not count[c]:
                    heapq.heappush(ready, c)
        return tuple(order)

    @cached_property
    def depth(self) -> tuple[int, ...]:
        """The most registers without initial items on a way to each actor."""
        depth = [0] * len(self.actors)
        into: list[list[int]] = [[] for _ in self.actors]
        for register in self.registers:
            if not register.initial:
                for c in register.consumers:
                    into[c].append(register.producer)
        for a in self.topological:
            depth[a] = max((depth[p] + 1 for p in into[a]), default=0)
        return tuple(depth)

    @property
    def _bytes(self) -> Iterable[Fraction]:
        for register in self.registers:
            yield register.slot_bytes
        for zone in self.zones:
            yield zone.capacity_bytes

    @cached_property
    def ticks_per_s(self) -> int:
        """The least number of ticks in a second such that all durations are whole numbers."""
        return common_denominator(actor.duration_s for actor in self.actors)

    @cached_property
    def ticks(self) -> tuple[int, ...]:
        """The durations of the actors in ticks."""
        return tuple(int(actor.duration_s * self.ticks_per_s) for actor in self.actors)

    def used_bytes(self, zone: str, slots: tuple[int, ...]) -> Fraction:
        """Return the bytes of a memory that slots take."""
        mine = self.registers_of_zone[zone]
        return sum((self.registers[e].slot_bytes * slots[e] for e in mine), Fraction(0))

    def fits(self, slots: tuple[int, ...]) -> bool:
        """Return True if slots are within their bounds and the memories."""
        within = all(r.fewest <= n <= r.most for r, n in zip(self.registers, slots, strict=True))
        return within and all(
            self.used_bytes(zone.name, slots) <= zone.capacity_bytes for zone in self.zones
        )


#: An entry of an order: an actor, and which of its firings.
Firing = tuple[NonNegativeInt, int]
Dispatch = Literal["orders", "fcfs", "deep", "shallow"]


class OneflowActorsSolution(Solution):
    """How many slots registers have, and which actor a stream fires next.

    Attributes
    ----------
    slots : tuple of int
        :math:`R_e` of each register.
    dispatch : "orders", "fcfs", "deep" or "shallow"
        By `orders`; or of the actors that can fire the one that has been able to for longest, that
        of the greatest depth, or of the least; on ties the first in topological order.
    orders : tuple of tuple of (int, int)
        Of each stream, in the order of `streams` of the instance, a window of pairs (a, k). The
        stream executes window after window, numbered by all integers n: firing k + n J of a, where
        J is how often a window has each actor. Firings before 0 do not exist and are left out.
    """

    slots: tuple[PositiveInt, ...]
    dispatch: Dispatch = "orders"
    orders: tuple[tuple[Firing, ...], ...] = ()


def size(instance: OneflowActorsInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "actors": len(instance.actors),
        "registers": len(instance.registers),
        "streams": len(instance.streams),
        "zones": len(instance.zones),
    }
