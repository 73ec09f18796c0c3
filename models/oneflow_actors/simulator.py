"""Actors that fire one after another, as OneFlow lets them: by a rule, until states repeat.

An actor can fire when an item is there in each register that it reads and a slot is free in each
that it writes. A stream that is free fires, of its actors that can, the one that its rule names.
What ends at a moment has ended before anything is fired.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .instance import OneflowActorsInstance

#: Firings after which a state has to repeat, in a check that nobody waits hours for.
#: By definition.
MOST_FIRINGS = 2_000_000


@dataclass(frozen=True)
class Steady:
    """What repeats: so many ticks for so many firings of each actor, after a start.

    Attributes
    ----------
    ticks, window : int
    fired : list of tuple
        (start in ticks, actor, firing) of all firings up to the end of the first repetition.
    since : int
        When the part that repeats begins, in ticks.
    """

    ticks: int
    window: int
    fired: list[tuple[int, int, int]]
    since: int

    @property
    def period(self) -> Fraction:
        """The time of one firing of each actor, in ticks."""
        return Fraction(self.ticks, self.window)


class Actors:
    """The state of all actors and streams, and a clock in ticks."""

    def __init__(
        self, instance: OneflowActorsInstance, slots: Sequence[int], rule: str, most: int | None
    ):
        self.instance = instance
        self.slots = slots
        self.most = most
        self.now: int = 0
        n = len(instance.actors)
        self.started: list[int] = [0] * n
        self.idle = n  # actors that have not fired yet
        self.ended: list[int] = [0] * n
        self.since: list[int | None] = [None] * n  # when an actor became able to fire
        self.running: list[tuple[int, int]] = []  # (end, actor), a heap
        self.fired: list[tuple[int, int, int]] = []
        self._stream_of = [0] * n
        for s, actors in enumerate(instance.actors_of_stream.values()):
            for a in actors:
                self._stream_of[a] = s
        self._busy = [False] * len(instance.streams)
        self._reads: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        self._writes: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        self._near: list[set[int]] = [{a} for a in range(n)]
        for e, register in enumerate(instance.registers):
            p = register.producer
            for c in register.consumers:
                self._reads[c].append((p, register.initial))
                self._writes[p].append((c, slots[e] - register.initial))
                self._near[p].add(c)
                self._near[c].add(p)
        self._key = _keys(instance)[rule]
        self._waiting: list[list[tuple[tuple[int, int], int]]] = [[] for _ in self._busy]
        for a in range(n):
            self._look_at(a)
        self._fire()

    def advance(self) -> bool:
        """Go to the next end of a firing, and fire what then can; False if nothing runs."""
        if not self.running:
            return False
        self.now = self.running[0][0]
        changed: set[int] = set()
        while self.running and self.running[0][0] == self.now:
            _, a = heapq.heappop(self.running)
            self.ended[a] += 1
            self._busy[self._stream_of[a]] = False
            changed |= self._near[a]
        for a in sorted(changed):
            self._look_at(a)
        self._fire()
        return True

    def _can_fire(self, a: int) -> bool:
        k = self.started[a]
        if k > self.ended[a] or k == self.most:
            return False
        ended = self.ended
        return all(ended[p] + initial > k for p, initial in self._reads[a]) and all(
            ended[c] + free > k for c, free in self._writes[a]
        )

    def _look_at(self, a: int) -> None:
        if self.since[a] is None and self._can_fire(a):
            self.since[a] = self.now
            heapq.heappush(self._waiting[self._stream_of[a]], (self._key(a, self.now), a))

    def _fire(self) -> None:
        for s, waiting in enumerate(self._waiting):
            if waiting and not self._busy[s]:
                _, a = heapq.heappop(waiting)
                self.fired.append((self.now, a, self.started[a]))
                self.idle -= not self.started[a]
                self.started[a] += 1
                self.since[a] = None
                self._busy[s] = True
                heapq.heappush(self.running, (self.now + self.instance.ticks[a], a))

    def state(self) -> tuple[object, ...]:
        """Return all that decides what follows, counted from the firings of actor 0."""
        base = self.started[0]
        return (
            tuple(k - base for k in self.started),
            tuple(k - base for k in self.ended),
            tuple(sorted((end - self.now, a) for end, a in self.running)),
            tuple(None if since is None else self.now - since for since in self.since),
        )


def _keys(
    instance: OneflowActorsInstance,
) -> dict[str, Callable[[int, int], tuple[int, int]]]:
    """Return what each rule sorts actors by: an actor, and since when it can fire."""
    place = {a: n for n, a in enumerate(instance.topological)}
    depth = instance.depth
    return {
        "fcfs": lambda a, since: (since, place[a]),
        "deep": lambda a, since: (-depth[a], place[a]),
        "shallow": lambda a, since: (depth[a], place[a]),
    }


def steady_state(instance: OneflowActorsInstance, slots: Sequence[int], rule: str) -> Steady | None:
    """Return what repeats under a rule; None if no state repeats within `MOST_FIRINGS`.

    Where no cycle of waits lacks tokens (`events`), some actor can always fire.
    """
    actors = Actors(instance, slots, rule, None)
    seen: dict[tuple[object, ...], tuple[int, int]] = {}
    fired = -1
    while len(actors.fired) < MOST_FIRINGS:
        if actors.started[0] != fired and not actors.idle:
            fired = actors.started[0]
            state = actors.state()
            if state in seen:
                since, before = seen[state]
                return Steady(actors.now - since, fired - before, actors.fired, since)
            seen[state] = actors.now, fired
        actors.advance()
    return None


def finite_run(
    instance: OneflowActorsInstance, slots: Sequence[int], rule: str, num_microbatches: int
) -> list[tuple[int, int, int]]:
    """Return (start in ticks, actor, firing) until all actors have fired M times."""
    actors = Actors(instance, slots, rule, num_microbatches)
    while actors.advance():
        pass
    return actors.fired
