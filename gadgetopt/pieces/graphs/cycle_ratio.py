r"""The largest ratio of length to tokens over the cycles of a graph: the period of a marked graph.

An arc (i, j) with length w and m tokens says that event j of round k waits for event i of round
:math:`k - m` and w more: :math:`x_j(k) \ge x_i(k - m) + w`. If a cycle has no tokens, or less than
none, its events wait for each other for ever. Otherwise the least time from round to round is

.. math:: \lambda = \max_C \frac{\sum_{a \in C} w_a}{\sum_{a \in C} m_a}

(Reiter 1968; Ramamoorthy and Ho 1980). It is found by going from cycle to cycle: as long as one is
positive for the lengths :math:`w - \lambda m`, its own ratio is larger. The first one is that of a
policy's iteration, and mostly the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import itemgetter
from typing import NamedTuple


class Arc(NamedTuple):
    """Event `target` waits for event `source`, so many rounds before, and `length` more."""

    source: int
    target: int
    length: int
    tokens: int


def deadlock(num_events: int, arcs: Sequence[Arc]) -> list[int] | None:
    """Return the arcs of a cycle whose tokens are at most 0, by their numbers; None without one.

    If no tokens are less than 0, that is a cycle of arcs without tokens, and there is none where
    events can be put in order. A cycle of different events has at most `num_events` arcs, so else
    with the weights :math:`1 - (n + 1) m` it is positive if and only if its tokens are at most 0.
    """
    in_order = len(_order(num_events, arcs)) == num_events
    if in_order and all(arc.tokens >= 0 for arc in arcs):
        return None
    weights = [1 - (num_events + 1) * arc.tokens for arc in arcs]
    cycles = _Walks(num_events, arcs, weights).positive_cycles()
    return cycles[0] if cycles else None


def largest_cycle_ratio(num_events: int, arcs: Sequence[Arc]) -> tuple[Fraction, list[int]]:
    """Return the largest ratio, and the numbers of the arcs of a cycle that has it.

    Without a cycle of positive length the ratio is 0, and there are no arcs.

    Raises
    ------
    ValueError
        If a cycle has no tokens.
    """
    if deadlock(num_events, arcs) is not None:
        raise ValueError("arcs: a cycle has no tokens")
    ratio, critical = _good_cycle(num_events, arcs)
    while True:
        cycles = _Walks(num_events, arcs, _beyond(arcs, ratio)).positive_cycles()
        if not cycles:
            return ratio, critical
        ratio, critical = _best(arcs, cycles)


def earliest(num_events: int, arcs: Sequence[Arc], ratio: Fraction) -> list[Fraction]:
    """Return starts of round 0, none before 0, with which rounds may follow at the ratio.

    Raises
    ------
    ValueError
        If the ratio is less than the largest of a cycle.
    """
    walks = _Walks(num_events, arcs, _beyond(arcs, ratio))
    if walks.positive_cycles():
        raise ValueError(f"ratio: {ratio}, expected at least that of every cycle")
    return [Fraction(x, ratio.denominator) for x in walks.longest]


def _good_cycle(num_events: int, arcs: Sequence[Arc]) -> tuple[Fraction, list[int]]:
    """Return a cycle and its ratio, mostly the largest (Howard 1960, Cochet-Terrasson et al. 1998).

    Each event has one arc that leads to it. All walks along these are weighed, and then each event
    takes the arc that ends its longest walk.
    """
    entering: list[list[int]] = [[] for _ in range(num_events)]
    for a, arc in enumerate(arcs):
        entering[arc.target].append(a)
    chosen = [max(enter, key=lambda a: arcs[a].length, default=None) for enter in entering]
    ratio, critical = Fraction(0), list[int]()
    for _ in range(num_events):
        found, cycle = _best(arcs, _cycles_of(arcs, chosen))
        if found > ratio:
            ratio, critical = found, cycle
        weights = _beyond(arcs, ratio)
        walk = _weighed(arcs, weights, chosen)
        changed = False
        for event, enter in enumerate(entering):
            longest = walk[event]
            for a in enter:
                if walk[arcs[a].source] + weights[a] > longest:
                    longest = walk[arcs[a].source] + weights[a]
                    chosen[event], changed = a, True
        if not changed:
            break
    return ratio, critical


def _weighed(
    arcs: Sequence[Arc], weights: Sequence[int], chosen: Sequence[int | None]
) -> list[int]:
    """Return the weight of the walk to each event, from where it begins or has gone a cycle."""
    walk: list[int | None] = [None] * len(chosen)
    for end in range(len(chosen)):
        event, back = end, list[int]()
        while walk[event] is None:
            walk[event] = 0
            arc = chosen[event]
            if arc is not None:
                back.append(arc)
                event = arcs[arc].source
        for arc in reversed(back):
            walk[arcs[arc].target] = (walk[arcs[arc].source] or 0) + weights[arc]
    return [weight or 0 for weight in walk]


def _best(arcs: Sequence[Arc], cycles: Sequence[list[int]]) -> tuple[Fraction, list[int]]:
    """Return the largest ratio of some cycles, and one that has it; 0 and no arcs of none."""
    ratios = [
        Fraction(sum(arcs[a].length for a in cycle), sum(arcs[a].tokens for a in cycle))
        for cycle in cycles
    ]
    return max(zip(ratios, cycles, strict=True), key=itemgetter(0), default=(Fraction(0), []))


def _beyond(arcs: Sequence[Arc], ratio: Fraction) -> list[int]:
    """Return the arcs' lengths beyond the ratio's for their tokens, times its denominator."""
    p, q = ratio.numerator, ratio.denominator
    return [q * arc.length - p * arc.tokens for arc in arcs]


class _Walks:
    """The longest walks found to each event (Bellman 1958, Ford 1956)."""

    def __init__(self, num_events: int, arcs: Sequence[Arc], weights: Sequence[int]) -> None:
        self.longest = [0] * num_events
        self._arcs = arcs
        # Along arcs without tokens a walk is whole after one round if events are in their order.
        order = _order(num_events, arcs)
        self._events = [*order, *sorted(set(range(num_events)).difference(order))]
        self._leaving: list[list[tuple[int, int, int]]] = [[] for _ in range(num_events)]
        for a, (arc, weight) in enumerate(zip(arcs, weights, strict=True)):
            self._leaving[arc.source].append((a, arc.target, weight))

    def positive_cycles(self) -> list[list[int]]:
        """Return cycles of positive weight, each its arcs; none if there are none at all.

        Walks grow for ever only along such cycles, which are then of the last arcs that lengthened
        them. These are looked through after every round, since cycles show early.
        """
        num_events = len(self.longest)
        last: list[int | None] = [None] * num_events
        grown = [True] * num_events
        for _ in range(num_events + 1):
            if not self._lengthened(last, grown):
                return []
            cycles = _cycles_of(self._arcs, last)
            if cycles:
                return cycles
        raise AssertionError("walks of more arcs than events have no cycle")

    def _lengthened(self, last: list[int | None], grown: list[bool]) -> bool:
        """Lengthen walks by an arc where an event's walk has grown; return if there was one."""
        longest = self.longest
        changed = False
        for event in self._events:
            if not grown[event]:
                continue
            grown[event] = False
            for a, target, weight in self._leaving[event]:
                if longest[event] + weight > longest[target]:
                    longest[target], last[target] = longest[event] + weight, a
                    grown[target] = changed = True
        return changed


def _order(num_events: int, arcs: Sequence[Arc]) -> list[int]:
    """Return events after those that lead to them without tokens, up to the first cycles."""
    leaving: list[list[int]] = [[] for _ in range(num_events)]
    waiting = [0] * num_events
    for arc in arcs:
        if arc.tokens == 0:
            leaving[arc.source].append(arc.target)
            waiting[arc.target] += 1
    order = [event for event in range(num_events) if not waiting[event]]
    for event in order:
        for target in leaving[event]:
            waiting[target] -= 1
            if not waiting[target]:
                order.append(target)
    return order


def _cycles_of(arcs: Sequence[Arc], last: Sequence[int | None]) -> list[list[int]]:
    """Return all cycles of arcs of which each event has at most one that leads to it."""
    cycles = []
    visited = [-1] * len(last)
    for first in range(len(last)):
        event = first
        while visited[event] < 0 and (arc := last[event]) is not None:
            visited[event] = first
            event = arcs[arc].source
        if visited[event] == first:
            cycles.append(_round(arcs, last, event))
        visited[event] = first
    return cycles


def _round(arcs: Sequence[Arc], last: Sequence[int | None], event: int) -> list[int]:
    """Return the arcs of the cycle that an event is on."""
    cycle, at = list[int](), event
    while not cycle or at != event:
        arc = last[at]
        assert arc is not None
        cycle.append(arc)
        at = arcs[arc].source
    return cycle[::-1]
