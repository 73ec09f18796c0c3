"""Small graphs whose periods are known: H1 to H14."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.models.oneflow_actors.instance import (
    Actor,
    OneflowActorsInstance,
    OneflowActorsSolution,
    Register,
    Zone,
)


def graph(times, streams, edges, *, capacity=None, **fields):
    """Return an instance; an edge is (producer, consumers, bytes, initial), the last two optional.

    Streams are letters, or None: every actor has its own.
    """
    streams = streams or [f"S{a}" for a in range(len(times))]
    registers = []
    for p, consumers, *rest in edges:
        slot_bytes, initial = (*rest, *(1, 0)[len(rest) :])
        readers = (consumers,) if isinstance(consumers, int) else tuple(consumers)
        registers.append(
            Register(producer=p, consumers=readers, slot_bytes=slot_bytes, initial=initial)
        )
    zones = () if capacity is None else (Zone(name="memory", capacity_bytes=capacity),)
    return OneflowActorsInstance(
        actors=tuple(Actor(duration_s=d, stream=s) for d, s in zip(times, streams, strict=True)),
        registers=tuple(registers),
        zones=zones,
        **fields,
    )


H1 = graph([2, 3], "AB", [(0, 1)])
H2 = graph([2, 4, 3], "ABC", [(0, 1), (1, 2)])


def h3(capacity):
    """Return H2 with slots of 3 bytes and 1 byte, within a memory."""
    return graph([2, 4, 3], "ABC", [(0, 1, 3), (1, 2, 1)], capacity=capacity)


H4 = graph([1, 4, 2], "XYX", [(0, 1), (0, 2), (1, 2)])
H5 = graph([1, 3, 3, 1, 1], None, [(0, 1), (0, 3), (1, 2), (2, 4), (3, 4)])
H6 = graph([1, 1, 1, 1], None, [(0, 1), (1, 2), (2, 3), (0, 3)])
H6_SHARED = graph([1, 1, 1, 1], None, [(0, (1, 3)), (1, 2), (2, 3)])
H7 = graph([4, 6, 4], "XNX", [(0, 1), (1, 2)])


def h8(initial):
    """Return a chain whose last actor gives the first its item of so many firings before."""
    return graph([2, 2, 3, 1], "XXNX", [(0, 1), (1, 2), (2, 3), (3, 0, 1, initial)])


H9 = graph([3, 1, 1], "XXY", [(0, 2), (1, 2), (0, 1)])
H10 = graph([3, 1, 1, 1], "XYXZ", [(0, (1, 3)), (1, 2), (2, 3)])
H11 = graph([1, 3, 6, 3], None, [(0, 1, 2), (1, 3, 4), (2, 3, 4), (0, 2, 3)], capacity=20)
H12 = graph([1, 1], "XX", [(0, 1)])
H13 = graph(
    [4, 1, 6, 1, 5],
    None,
    [(0, (2, 3), 1), (1, (3, 4), 4), (2, 3, 3), (3, 4, 2), (0, 1, 3)],
    capacity=23,
)
H14 = graph(
    [5, 5, 5, 5, 1],
    "ABCBD",
    [(0, (1, 3), 2), (1, (2, 4), 1), (2, (3, 4), 1), (3, 4, 1)],
    capacity=9,
)


def ruled(slots, dispatch="fcfs"):
    """Return the solution with so many slots and a rule."""
    return OneflowActorsSolution(slots=tuple(slots), dispatch=dispatch)


def ordered(slots, *orders):
    """Return the solution with so many slots and the windows of all streams."""
    return OneflowActorsSolution(slots=tuple(slots), orders=tuple(map(tuple, orders)))


def alone(instance, slots):
    """Return the solution of an instance whose actors have streams of their own."""
    return ordered(slots, *([(a, 0)] for a in range(len(instance.actors))))


def period(instance, solution):
    """Return the period, by the evaluator."""
    from gadgetopt.models.oneflow_actors.evaluate import evaluate

    found = evaluate(instance, solution)
    return None if found.objective is None else 1 / Fraction(found.objective)
