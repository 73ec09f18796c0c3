"""Slots are added one by one, where the critical cycle waits for one and it gains most for a byte.

The critical cycle of a rule is that of the order in which it fires. Where it waits for no slot, one
more in any register may still change what the rule fires.
"""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..events import event_graph
from ..instance import OneflowActorsInstance
from ..simulator import steady_state
from ..subproblems.dispatch import Rule, check_fits, dispatched, ordered


@method(kind="heuristic", reference="this project")
def critical_cycle(
    instance: OneflowActorsInstance, limits: Limits, *, dispatch: Rule = "fcfs"
) -> MethodOutcome:
    """One slot each, and then one more where the critical cycle waits and it gains most.

    Raises
    ------
    ModelRefused
        If memories do not hold one slot each.
    """
    clock = Clock(limits)
    slots = tuple(register.fewest for register in instance.registers)
    check_fits(instance, slots)
    steady_instance = instance.model_copy(update={"num_microbatches": None, "window": None})
    slots = grown(steady_instance, slots, dispatch, clock)
    return MethodOutcome(
        solution=dispatched(instance, slots, dispatch),
        limit_hit=clock.limit_hit,
        phases_s=clock.phases_s,
    )


def grown(
    instance: OneflowActorsInstance, slots: tuple[int, ...], rule: Rule, clock: Clock
) -> tuple[int, ...]:
    """Return the best slots on the way, which ends after one more for each that gain nothing."""
    load = max(
        sum(instance.ticks[a] for a in actors) for actors in instance.actors_of_stream.values()
    )
    period, waiting = _critical(instance, slots, rule)
    best, idle = (period, slots), 0
    while period > load and idle <= len(slots) and not clock.expired:
        options = []
        for e in waiting:
            more = (*slots[:e], slots[e] + 1, *slots[e + 1 :])
            if instance.fits(more):
                slot_bytes = instance.registers[e].slot_bytes
                gain = (period - _period(instance, more, rule)) / max(slot_bytes, Fraction(1))
                options.append((-gain, slot_bytes, e, more))
        if not options:
            break
        slots = min(options)[3]
        period, waiting = _critical(instance, slots, rule)
        idle = 0 if period < best[0] else idle + 1
        best = min(best, (period, slots), key=lambda found: found[0])
    return best[1]


def _period(instance: OneflowActorsInstance, slots: tuple[int, ...], rule: Rule) -> Fraction:
    """Return the period in ticks."""
    if instance.own_streams:  # every rule fires as early as can be
        return event_graph(instance, slots, None).period()[0]
    steady = steady_state(instance, slots, rule)
    return Fraction(sum(instance.ticks)) if steady is None else steady.period


def _critical(
    instance: OneflowActorsInstance, slots: tuple[int, ...], rule: Rule
) -> tuple[Fraction, list[int]]:
    """Return the period in ticks, and the registers whose slots the critical cycle waits for."""
    graph = event_graph(instance, slots, None)
    if not instance.own_streams:
        steady = steady_state(instance, slots, rule)
        if steady is not None:
            orders = ordered(instance, slots, steady, steady.window).orders
            graph = event_graph(instance, slots, orders, steady.window)
    period, cycle = graph.period()
    reasons = [graph.reasons[n] for n in cycle]
    waiting = sorted({number for kind, number in reasons if kind == "slot"})
    if not waiting and not instance.own_streams:
        waiting = list(range(len(slots)))
    return period, waiting
