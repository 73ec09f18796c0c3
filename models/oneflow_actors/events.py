r"""What firings wait for: a marked graph whose largest cycle ratio is the period.

With :math:`x_a(k)` the start of firing k of actor a, :math:`R_e` slots of register e, durations d:

.. math::
    (1)\quad x_c(k) &\ge x_{p_e}(k - \delta_e) + d_{p_e} \quad \forall c \in C_e
        && \text{the item is there} \\
    (2)\quad x_{p_e}(k) &\ge x_c(k - R_e + \delta_e) + d_c \quad \forall c \in C_e
        && \text{a slot is free} \\
    (3)\quad x_a(k) &\ge x_a(k - 1) + d_a && \text{one firing at a time} \\
    (4)\quad x_b(l) &\ge x_a(k) + d_a && \text{firing k of a is before firing l of b on a stream}

In an order of windows in which every actor fires J times, firing k is copy :math:`k \bmod J` of
round :math:`\lfloor k / J \rfloor`, and one round takes the largest ratio of a cycle.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.pieces.graphs.cycle_ratio import Arc, deadlock, earliest, largest_cycle_ratio

from .instance import Firing, OneflowActorsInstance

#: Why a firing waits: an item, a slot, itself, the order of a stream.
KINDS = ("item", "slot", "self", "order")


@dataclass(frozen=True)
class EventGraph:
    """The arcs of J copies of each actor, copy r of actor a being event a J + r.

    Attributes
    ----------
    window : int
        J.
    num_events : int
    arcs : list of Arc
        Lengths are in ticks.
    reasons : list of tuple
        Of each arc its kind, and the number of its register, actor or stream.
    """

    window: int
    num_events: int
    arcs: list[Arc]
    reasons: list[tuple[str, int]]

    def deadlock(self) -> list[int] | None:
        """Return a cycle of arcs whose events wait for each other for ever, if there is one."""
        return deadlock(self.num_events, self.arcs)

    def period(self) -> tuple[Fraction, list[int]]:
        """Return the least time from firing to firing in ticks, and a critical cycle of arcs."""
        ratio, cycle = largest_cycle_ratio(self.num_events, self.arcs)
        return ratio / self.window, cycle

    def starts(self, period: Fraction) -> list[Fraction]:
        """Return the starts of round 0 in ticks, with which rounds repeat."""
        return earliest(self.num_events, self.arcs, period * self.window)


def event_graph(
    instance: OneflowActorsInstance,
    slots: Sequence[int],
    orders: Sequence[Sequence[Firing]] | None,
    window: int = 1,
) -> EventGraph:
    """Return the graph of slots and orders; without orders streams are no limit."""
    graph = EventGraph(window, len(instance.actors) * window, [], [])
    for before, after, length, lag, reason in _waits(instance, slots):
        for r in range(window):
            round_before, copy = divmod(r - lag, window)
            _add(graph, before * window + copy, after * window + r, length, -round_before, reason)
    if orders is not None:
        for s, entries in enumerate(orders):
            _add_order(graph, instance, s, entries)
    return graph


def _waits(
    instance: OneflowActorsInstance, slots: Sequence[int]
) -> Iterator[tuple[int, int, int, int, tuple[str, int]]]:
    """Yield (1) to (3): firing k of the second waits for firing k - lag of the first."""
    ticks = instance.ticks
    for e, (register, count) in enumerate(zip(instance.registers, slots, strict=True)):
        p, delta = register.producer, register.initial
        for c in register.consumers:
            yield p, c, ticks[p], delta, ("item", e)
            yield c, p, ticks[c], count - delta, ("slot", e)
    for a, length in enumerate(ticks):
        yield a, a, length, 1, ("self", a)


def _add(
    graph: EventGraph, source: int, target: int, length: int, tokens: int, reason: tuple[str, int]
) -> None:
    graph.arcs.append(Arc(source, target, length, tokens))
    graph.reasons.append(reason)


def _add_order(
    graph: EventGraph, instance: OneflowActorsInstance, stream: int, entries: Sequence[Firing]
) -> None:
    """Add (4): each entry waits for the one before, the first for the last of the window before."""
    J = graph.window
    for n, (b, k) in enumerate(entries):
        a, before = entries[n - 1]
        tokens = k // J - before // J + (0 if n else 1)
        event = a * J + before % J, b * J + k % J
        _add(graph, *event, instance.ticks[a], tokens, ("order", stream))


def makespan(
    instance: OneflowActorsInstance,
    slots: Sequence[int],
    orders: Sequence[Sequence[Firing]],
    num_microbatches: int,
) -> int | None:
    """Return when all firings have ended, in ticks; None if some wait for each other for ever."""
    starts = finite_starts(instance, slots, orders, num_microbatches)
    if starts is None:
        return None
    return max(
        start + length
        for times, length in zip(starts, instance.ticks, strict=True)
        for start in times
    )


def finite_starts(
    instance: OneflowActorsInstance,
    slots: Sequence[int],
    orders: Sequence[Sequence[Firing]],
    num_microbatches: int,
) -> list[list[int]] | None:
    """Return the earliest starts of firings 0, ..., M - 1 of each actor, in ticks."""
    M, ticks = num_microbatches, instance.ticks
    after: list[list[tuple[int, int]]] = [[] for _ in range(len(ticks) * M)]
    missing = [0] * len(after)

    def wait(before: int, then: int, length: int) -> None:
        after[before].append((then, length))
        missing[then] += 1

    for a, b, length, lag, _ in _waits(instance, slots):
        for k in range(max(0, lag), min(M, M + lag)):
            wait(a * M + k - lag, b * M + k, length)
    for sequence in (firings(entries, M) for entries in orders):
        for (a, k), (b, j) in itertools.pairwise(sequence):
            wait(a * M + k, b * M + j, ticks[a])
    start = [0] * len(after)
    ready = [event for event, count in enumerate(missing) if not count]
    for event in ready:  # which grows
        for then, length in after[event]:
            start[then] = max(start[then], start[event] + length)
            missing[then] -= 1
            if not missing[then]:
                ready.append(then)
    if len(ready) < len(start):
        return None
    return [start[a * M : (a + 1) * M] for a in range(len(ticks))]


def firings(entries: Sequence[Firing], num_microbatches: int) -> list[Firing]:
    """Return firings 0, ..., M - 1 of a stream's actors in the order of its windows."""
    M = num_microbatches
    count = len({a for a, _ in entries})
    J = len(entries) // count
    found = []
    for place, (a, k) in enumerate(entries):
        first = -(k // J)  # the window of the first firing that exists
        found += [(n, place, (a, k + n * J)) for n in range(first, first + M) if k + n * J < M]
    return [firing for _, _, firing in sorted(found)]
