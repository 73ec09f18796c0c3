"""From which firing runs between which, or from starts, to the orders of streams."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gadgetopt.errors import ModelRefused

from ..instance import Firing, OneflowActorsInstance


class Event(NamedTuple):
    """Copy `copy` of an actor: of all firings every J-th, from this one on."""

    actor: int
    copy: int


def events_of(actors: list[int], window: int) -> list[Event]:
    """Return the events of a stream's actors."""
    return [Event(a, r) for a in actors for r in range(window)]


def stream_pairs(instance: OneflowActorsInstance, window: int) -> Iterator[tuple[Event, Event]]:
    """Yield the pairs of events of different actors that share a stream."""
    for actors in instance.actors_of_stream.values():
        for a, b in itertools.combinations(events_of(actors, window), 2):
            if a.actor != b.actor:
                yield a, b


def window_of(instance: OneflowActorsInstance) -> int:
    """Return how often each actor fires in the order that is repeated.

    Raises
    ------
    ModelRefused
        If the instance has no such order: any may be taken, or nothing is repeated.
    """
    if instance.num_microbatches is not None:
        raise ModelRefused("num_microbatches: given, the model is of the steady state")
    if instance.window is None:
        raise ModelRefused("window: not given, the model has an order that repeats: window=1")
    return instance.window


def windows_of(
    instance: OneflowActorsInstance, window: int, rounds: Mapping[tuple[Event, Event], int]
) -> tuple[tuple[Firing, ...], ...]:
    """Return the windows of all streams.

    Parameters
    ----------
    rounds : dict
        Of each of `stream_pairs` the k for which b of round n + k runs between a of round n and a
        of round n + 1.
    """
    orders = []
    for actors in instance.actors_of_stream.values():
        events = events_of(actors, window)
        first = events[0]
        k = {e: 0 if e == first else _between(first, e, rounds) for e in events}
        before = {
            e: sum(f != e and k[f] + _between(f, e, rounds) <= k[e] for f in events) for e in events
        }
        inside = sorted(events, key=lambda e: (e != first, before[e]))
        orders.append(tuple((e.actor, e.copy + window * k[e]) for e in inside))
    return tuple(orders)


def _between(a: Event, b: Event, rounds: Mapping[tuple[Event, Event], int]) -> int:
    if a.actor == b.actor:
        return 0 if a.copy < b.copy else 1
    return rounds[a, b] if (a, b) in rounds else 1 - rounds[b, a]


def orders_of(
    instance: OneflowActorsInstance, starts: Mapping[Firing, float]
) -> tuple[tuple[Firing, ...], ...]:
    """Return the firings of each stream by their starts; on ties in topological order."""
    place = {a: n for n, a in enumerate(instance.topological)}
    orders: dict[str, list[Firing]] = {stream: [] for stream in instance.streams}
    for a, k in sorted(starts, key=lambda f: (starts[f], f[1], place[f[0]])):
        orders[instance.actors[a].stream].append((a, k))
    return tuple(map(tuple, orders.values()))
