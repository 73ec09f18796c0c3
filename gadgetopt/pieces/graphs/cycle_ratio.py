r"""The largest ratio of length to tokens over the cycles of a graph: the period of a marked graph.

An arc (i, j) with length w and m tokens says that event j of round k waits for event i of round
:math:`k - m` and w more: :math:`x_j(k) \ge x_i(k - m) + w`. If a cycle has no tokens, or less than
none, its events wait for each other for ever. Otherwise the least time from round to round is

.. math:: \lambda = \max_C \frac{\sum_{a \in C} w_a}{\sum_{a \in C} m_a}

(Reiter 1968; Ramamoorthy and Ho 1980). It is found by going from cycle to cycle: as long as one is
positive for the lengths :math:`w - \lambda m`, its own ratio is larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple


class Arc(NamedTuple):
    """Event `target` waits for event `source`, so many rounds before, and `length` more."""

    source: int
    target: int
    length: int
    tokens: int


def deadlock(num_events: int, arcs: Sequence[Arc]) -> list[int] | None:
    """Return the arcs of a cycle whose tokens are at most 0, by their numbers; None without one.

    A cycle of different events has at most `num_events` arcs, so with the weights
    :math:`1 - (n + 1) m` it is positive if and only if its tokens are at most 0.
    """
    return _positive_cycle(num_events, arcs, [1 - (num_events + 1) * arc.tokens for arc in arcs])


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
    ratio, critical = Fraction(0), list[int]()
    while True:
        p, q = ratio.numerator, ratio.denominator
        found = _positive_cycle(num_events, arcs, [q * a.length - p * a.tokens for a in arcs])
        if found is None:
            return ratio, critical
        critical = found
        length = sum(arcs[a].length for a in critical)
        ratio = Fraction(length, sum(arcs[a].tokens for a in critical))


def earliest(num_events: int, arcs: Sequence[Arc], ratio: Fraction) -> list[Fraction]:
    """Return starts of round 0, none before 0, with which rounds may follow at the ratio.

    Raises
    ------
    ValueError
        If the ratio is less than the largest of a cycle.
    """
    p, q = ratio.numerator, ratio.denominator
    weights = [q * arc.length - p * arc.tokens for arc in arcs]
    start = [0] * num_events
    for _ in range(num_events + 1):
        changed = False
        for arc, weight in zip(arcs, weights, strict=True):
            if start[arc.source] + weight > start[arc.target]:
                start[arc.target] = start[arc.source] + weight
                changed = True
        if not changed:
            return [Fraction(x, q) for x in start]
    raise ValueError(f"ratio: {ratio}, expected at least that of every cycle")


def _positive_cycle(
    num_events: int, arcs: Sequence[Arc], weights: Sequence[int]
) -> list[int] | None:
    """Return the arcs of a cycle of positive weight (Bellman 1958, Ford 1956); None without one.

    Longest walks grow for ever only along such a cycle, which is then one of the last arcs that
    lengthened them. These are looked through after every round, since cycles show early.
    """
    longest = [0] * num_events
    last: list[int | None] = [None] * num_events
    weighted = [
        (a, arc.source, arc.target, w) for a, (arc, w) in enumerate(zip(arcs, weights, strict=True))
    ]
    for _ in range(num_events + 1):
        changed = False
        for a, source, target, weight in weighted:
            if longest[source] + weight > longest[target]:
                longest[target] = longest[source] + weight
                last[target] = a
                changed = True
        if not changed:
            return None
        cycle = _cycle_of(arcs, last)
        if cycle is not None:
            return cycle
    raise AssertionError("walks of more arcs than events have no cycle")


def _cycle_of(arcs: Sequence[Arc], last: Sequence[int | None]) -> list[int] | None:
    """Return a cycle of arcs of which each event has at most one that leads to it."""
    visited = [-1] * len(last)
    for first in range(len(last)):
        event = first
        while visited[event] < 0:
            visited[event] = first
            arc = last[event]
            if arc is None:
                break
            event = arcs[arc].source
        else:
            if visited[event] != first:
                continue
            cycle, at = [], event
            while True:
                arc = last[at]
                assert arc is not None
                cycle.append(arc)
                at = arcs[arc].source
                if at == event:
                    return cycle[::-1]
    return None
