"""Small random graphs, and every decision of theirs."""

from __future__ import annotations

import itertools

from gadgetopt.models.oneflow_actors.instance import OneflowActorsInstance

from .hand_checked import graph, ordered


def random_instance(rng, *, actors=4, shared=True, feedback=True, **fields):
    """Return a connected random graph of a few actors, some on one stream."""
    n = int(rng.integers(2, actors + 1))
    times = [int(x) for x in rng.integers(1, 6, size=n)]
    names = [chr(65 + int(rng.integers(n - 1 if n > 2 else 1))) for _ in range(n)]
    edges = []
    for c in range(1, n):
        producers = {int(rng.integers(c)) for _ in range(int(rng.integers(1, 3)))}
        edges.extend((p, c, int(rng.integers(1, 4))) for p in producers)
    if feedback and rng.random() < 0.4:
        edges.append((n - 1, 0, 1, int(rng.integers(1, 3))))
    capacity = None
    if rng.random() < 0.6:
        least = sum(size * max(1, *initial, 0) for _, _, size, *initial in edges)
        capacity = least + int(rng.integers(0, 5))
    return graph(times, names if shared else None, edges, capacity=capacity, **fields)


def all_slots(instance: OneflowActorsInstance, most=3):
    """Yield all numbers of slots up to a number."""
    ranges = [range(r.fewest, max(most, r.fewest) + 1) for r in instance.registers]
    return (slots for slots in itertools.product(*ranges) if instance.fits(slots))


def all_orders(instance: OneflowActorsInstance, shifts=2):
    """Yield all orders of one firing of each actor, up to a shift."""
    streams = []
    for actors in instance.actors_of_stream.values():
        first, *others = actors
        streams.append(
            [
                [(first, 0), *zip(order, shift, strict=True)]
                for order in itertools.permutations(others)
                for shift in itertools.product(range(-shifts, shifts + 1), repeat=len(others))
            ]
        )
    return itertools.product(*streams)


def all_decisions(instance, most=3, shifts=2):
    """Yield all decisions with one firing of each actor in a window."""
    for slots in all_slots(instance, most):
        for orders in all_orders(instance, shifts):
            yield ordered(slots, *orders)
