"""Slots under a rule as a decision: the rule itself, or the order in which it fires."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from gadgetopt.errors import ModelRefused
from gadgetopt.system.result import MethodOutcome

from ..events import event_graph
from ..instance import Firing, OneflowActorsInstance, OneflowActorsSolution
from ..simulator import Steady, finite_run, steady_state

Rule = Literal["fcfs", "deep", "shallow"]
RULES: tuple[Rule, ...] = ("fcfs", "deep", "shallow")


def outcome_of(instance: OneflowActorsInstance, slots: Sequence[int], rule: Rule) -> MethodOutcome:
    """Return the outcome with so many slots, under a rule.

    Raises
    ------
    ModelRefused
        If memories do not hold the slots, or firings would wait for each other for ever.
    """
    counts = tuple(slots)
    check_fits(instance, counts)
    return MethodOutcome(solution=dispatched(instance, counts, rule))


def check_fits(instance: OneflowActorsInstance, slots: tuple[int, ...]) -> None:
    """Refuse slots that are not possible.

    Raises
    ------
    ModelRefused
        If memories do not hold them, or firings would wait for each other for ever.
    """
    for e, (register, count) in enumerate(zip(instance.registers, slots, strict=True)):
        if count > register.most:
            raise ModelRefused(f"registers[{e}].most: {register.most}, {count} slots are needed")
    for zone in instance.zones:
        used = instance.used_bytes(zone.name, slots)
        if used > zone.capacity_bytes:
            raise ModelRefused(
                f"zones: {zone.name} has {zone.capacity_bytes} bytes, the slots need {used}"
            )
    if event_graph(instance, slots, None).deadlock() is not None:
        raise ModelRefused("registers: with these slots actors wait for each other for ever")


def dispatched(
    instance: OneflowActorsInstance, slots: tuple[int, ...], rule: Rule
) -> OneflowActorsSolution:
    """Return slots with a rule; where windows have to repeat, with the order that it fires in.

    If the rule's own repetition has another number of firings, the order is that of first firings.
    """
    J = instance.window
    if J is None:
        return OneflowActorsSolution(slots=slots, dispatch=rule)
    steady = steady_state(instance, slots, rule)
    if steady is not None and J % steady.window == 0:
        return ordered(instance, slots, steady, J)
    first = [a for _, a, k in sorted(finite_run(instance, slots, rule, 1)) if k == 0]
    streams = [
        tuple((a, r) for r in range(J) for a in first if a in set(actors))
        for actors in instance.actors_of_stream.values()
    ]
    return OneflowActorsSolution(slots=slots, orders=tuple(streams))


def ordered(
    instance: OneflowActorsInstance, slots: tuple[int, ...], steady: Steady, window: int
) -> OneflowActorsSolution:
    """Return what repeats under a rule as the order of a window, a multiple of its own firings."""
    end = steady.since + steady.ticks
    orders: dict[str, list[Firing]] = {stream: [] for stream in instance.streams}
    for repetition in range(window // steady.window):
        for start, a, k in steady.fired:
            if steady.since < start <= end:
                entry = a, k + repetition * steady.window
                orders[instance.actors[a].stream].append(entry)
    return OneflowActorsSolution(slots=slots, orders=tuple(map(tuple, orders.values())))
