r"""The evaluator: throughput of slots and orders, or of slots and a rule, and what they violate.

Actor a can fire when an item is in each register that it reads and a slot is free in each that it
writes, (1) and (2) of `events`; it keeps its stream for :math:`d_a`, (3). Streams fire in the order
that is given, (4), or by a rule. Slots are within their bounds, (5), and memories hold them, (6):

.. math:: (5)\quad \max(R^{min}_e, \delta_e) \le R_e \le R^{max}_e \qquad
    (6)\quad \sum_{e \in z} b_e R_e \le K_z

.. math:: (7)\quad \text{throughput} = \frac{1}{\lambda},\quad \lambda = \lim_{k \to \infty}
    \frac{x_a(k)}{k} \qquad (8)\quad \text{throughput} = \frac{M}{\max_a (x_a(M - 1) + d_a)}

(7) for the steady state, (8) for M microbatches. All numbers are exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.result import Evaluation, Violation

from .events import EventGraph, event_graph, makespan
from .instance import OneflowActorsInstance, OneflowActorsSolution
from .simulator import finite_run, steady_state


def evaluate(instance: OneflowActorsInstance, solution: OneflowActorsSolution) -> Evaluation:
    """Recompute the throughput of a decision, and which constraints it violates.

    Returns
    -------
    Evaluation
        The objective is None if slots or firings are missing, or firings wait for each other for
        ever. Components: `period_s`, or `makespan_s` of M microbatches; `firings_that_repeat`, the
        J of the steady state; `slots`, of all registers; `memory_bytes`.
    """
    broken = tuple(_broken(instance, solution))
    if broken:
        return Evaluation(None, broken)
    found = _timed(instance, solution)
    if isinstance(found, Violation):
        return Evaluation(None, (found,))
    time_s, window = found
    zones = instance.registers_of_zone
    components: dict[str, Number] = {
        "slots": sum(solution.slots),
        "memory_bytes": sum(
            (instance.used_bytes(zone, solution.slots) for zone in zones), Fraction(0)
        ),
    }
    if instance.num_microbatches is None:
        components |= {"period_s": time_s, "firings_that_repeat": window}
        objective = 1 / time_s
    else:
        components["makespan_s"] = time_s
        objective = instance.num_microbatches / time_s
    return Evaluation(objective, tuple(_beyond(instance, solution)), components)


def _broken(
    instance: OneflowActorsInstance, solution: OneflowActorsSolution
) -> Iterator[Violation]:
    """Yield what leaves undefined what is fired."""
    wrong = abs(len(solution.slots) - len(instance.registers))
    if wrong:
        yield Violation("register_without_slots", f"slots of {len(instance.registers)}", wrong)
        return
    for e, (register, count) in enumerate(zip(instance.registers, solution.slots, strict=True)):
        if count < register.initial:
            yield Violation("initial_items_without_slots", f"slots[{e}]", register.initial - count)
    if solution.dispatch != "orders":
        if solution.orders:
            yield Violation("order_beside_a_rule", "orders", len(solution.orders))
        if instance.window is not None:
            yield Violation("rule_where_windows_repeat", "dispatch", 1)
        return
    wrong = abs(len(solution.orders) - len(instance.streams))
    if wrong:
        yield Violation("stream_without_order", f"orders of {len(instance.streams)}", wrong)
        return
    yield from _not_each_once(instance, solution)


def _not_each_once(
    instance: OneflowActorsInstance, solution: OneflowActorsSolution
) -> Iterator[Violation]:
    """Yield the actors of which a window has not J firings, of different remainders by J."""
    window = window_of(instance, solution)
    if window < 1:
        yield Violation("stream_without_order", "orders[0]", 1)
        return
    for s, actors in enumerate(instance.actors_of_stream.values()):
        listed: dict[int, Counter[int]] = {a: Counter() for a in actors}
        for n, (a, k) in enumerate(solution.orders[s]):
            if a not in listed:
                yield Violation("actor_of_another_stream", f"orders[{s}][{n}], actor {a}", 1)
                return
            listed[a][k % window] += 1
        for a, copies in listed.items():
            wrong = sum(abs(copies[r] - 1) for r in range(window))
            if wrong:
                yield Violation("firing_not_listed_once", f"orders[{s}], actor {a}", wrong)


def window_of(instance: OneflowActorsInstance, solution: OneflowActorsSolution) -> int:
    """Return how often a window has each actor: what the instance says, or the first order does."""
    if instance.window is not None:
        return instance.window
    first = next(iter(instance.actors_of_stream.values()))
    return len(solution.orders[0]) // len(first)


def _timed(
    instance: OneflowActorsInstance, solution: OneflowActorsSolution
) -> tuple[Fraction, int] | Violation:
    """Return period or makespan in seconds, and how many firings repeat."""
    tick, M = Fraction(1, instance.ticks_per_s), instance.num_microbatches
    orders = solution.orders if solution.dispatch == "orders" else None
    if orders is not None and M is not None:
        ticks = makespan(instance, solution.slots, orders, M)
        if ticks is None:
            return Violation("firings_wait_for_each_other", "orders", 1)
        return ticks * tick, M
    window = 1 if orders is None else window_of(instance, solution)
    graph = event_graph(instance, solution.slots, orders, window)
    cycle = graph.deadlock()
    if cycle is not None:
        where = in_words(instance, graph, cycle)
        return Violation("firings_wait_for_each_other", where, len(cycle))
    if orders is not None:
        return graph.period()[0] * tick, window
    if M is not None:
        fired = finite_run(instance, solution.slots, solution.dispatch, M)
        return max(start + instance.ticks[a] for start, a, _ in fired) * tick, M
    steady = steady_state(instance, solution.slots, solution.dispatch)
    if steady is None:
        return Violation("no_state_repeats", "dispatch", 1)
    return steady.period * tick, steady.window


def _beyond(
    instance: OneflowActorsInstance, solution: OneflowActorsSolution
) -> Iterator[Violation]:
    """Yield (5) and (6) where they do not hold."""
    for e, (register, count) in enumerate(zip(instance.registers, solution.slots, strict=True)):
        wrong = max(register.least - count, count - register.most)
        if wrong > 0:
            yield Violation("slots_out_of_bounds", f"slots[{e}]", wrong)
    for zone in instance.zones:
        wrong_bytes = instance.used_bytes(zone.name, solution.slots) - zone.capacity_bytes
        if wrong_bytes > 0:
            yield Violation("memory_exceeded", f"zone {zone.name}, bytes", wrong_bytes)


def in_words(instance: OneflowActorsInstance, graph: EventGraph, cycle: list[int]) -> str:
    """Return a cycle as text: which firing waits for which, and why."""
    J, parts = graph.window, []
    for n in cycle:
        arc, (kind, number) = graph.arcs[n], graph.reasons[n]
        a, b = arc.source // J, arc.target // J
        why = {
            "item": f"for an item of register {number}",
            "slot": f"for a slot of register {number}",
            "self": "for its own firing before",
            "order": f"on stream {instance.streams[number] if kind == 'order' else ''}",
        }[kind]
        parts.append(f"{b} waits {why}" + ("" if kind == "self" else f" from {a}"))
    return "; ".join(parts)
