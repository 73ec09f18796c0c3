"""Numbers of slots that do not depend on durations.

OneFlow's plan gives every register its least number, which is 1 but for a few kinds of operators;
streams serve what comes first. `pipeline_buffer_pass` gives what a stage's forward keeps for its
backward 2 S slots in a pipeline of S stages: `published_slots` of an instance says so.
"""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import OneflowActorsInstance
from ..subproblems.dispatch import Rule, outcome_of


@method(kind="baseline", reference="OneFlow's source: register_num = min_register_num")
def one(instance: OneflowActorsInstance, *, dispatch: Rule = "fcfs") -> MethodOutcome:
    """One slot in every register, or as many as have items at the start.

    Raises
    ------
    ModelRefused
        If memories do not hold the slots.
    """
    return outcome_of(instance, [register.fewest for register in instance.registers], dispatch)


@method(kind="baseline", reference="double buffering")
def two(instance: OneflowActorsInstance, *, dispatch: Rule = "fcfs") -> MethodOutcome:
    """Two slots in every register that may have two, so that producer and consumer overlap.

    Raises
    ------
    ModelRefused
        If memories do not hold the slots.
    """
    slots = [max(r.fewest, min(2, r.most)) for r in instance.registers]
    return outcome_of(instance, slots, dispatch)


@method(kind="baseline", reference="OneFlow's source: pipeline_buffer_pass")
def published(instance: OneflowActorsInstance, *, dispatch: Rule = "fcfs") -> MethodOutcome:
    """The slots that OneFlow's plan gives each register.

    Raises
    ------
    ModelRefused
        If memories do not hold the slots.
    """
    slots = [max(r.fewest, r.published_slots) for r in instance.registers]
    return outcome_of(instance, slots, dispatch)


@method(kind="baseline", reference="reconstructed")
def unlimited(instance: OneflowActorsInstance, *, dispatch: Rule = "fcfs") -> MethodOutcome:
    """As many slots as can be of use, two for each register on the longest way to a consumer.

    Raises
    ------
    ModelRefused
        If memories do not hold the slots.
    """
    return outcome_of(instance, most_useful(instance), dispatch)


def most_useful(instance: OneflowActorsInstance) -> list[int]:
    """Return 2 depth + 1 slots and the initial items, with which the load is attained."""
    return [
        max(r.fewest, min(r.most, r.initial + 2 * max(instance.depth[c] for c in r.consumers) + 1))
        for r in instance.registers
    ]
