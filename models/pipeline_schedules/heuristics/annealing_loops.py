r"""Annealing of the orders of devices, compiled.

A state is the order of each device. A move takes one operation of a device to another place, if
microbatches stay in their order, F before I before W, and memory suffices. The cost is the makespan
or the period, and a small part of what devices last on average, so that a device that is not the
longest may become shorter, too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.numbers.compiled import compiled
from gadgetopt.numbers.loop_pieces import put

#: Part of the mean span of devices in the cost. Tuned: `benchmarks/pipeline_schedules_search.toml`.
SPREAD = 0.05
#: No path. By definition.
NEVER = -(2**60)
#: The cost of orders that wait for each other. By definition.
STUCK = -1.0
#: A move goes at most this far. Tuned: `benchmarks/pipeline_schedules_search.toml`.
FAR = 8
#: Values that differ by less are equal: a fraction of a tick has a small denominator.
#: By definition.
SAME = 1e-6


class Data(NamedTuple):
    """What does not change; arrays of operations unless they say something else."""

    device: Ints
    duration: Ints
    tail: Ints  # AllReduce after a W
    before: Ints  # shape (operations, 2): what an operation waits for; -1 is nothing
    lag: Ints  # shape (operations, 2)
    stage: Ints
    kind: Ints
    microbatch: Ints
    takes: Ints  # memory at the start
    frees: Ints  # memory at the end
    capacity: Ints  # of devices; -1 is unlimited
    num_operations: Ints  # of devices
    period: int


class Room(NamedTuple):
    """Room for a computation."""

    sequence: Ints  # operations, each after what it waits for
    placed: Bools
    place: Ints  # shape (devices,)
    ends: Ints  # shape (operations, devices): longest paths from the begin of a device to an end
    last: Ints  # shape (devices, devices): the same for the last operation of a device so far
    spans: Ints  # shape (devices, devices): from the begin of a device to the end of another
    walks: Ints  # shape (devices + 1, devices)


@compiled
def _sorted(data: Data, orders: Ints, room: Room) -> bool:
    """Write the operations, each after what it waits for; return False if some wait for ever."""
    before, count, placed, place = data.before, data.num_operations, room.placed, room.place
    for o in range(len(placed)):
        placed[o] = False
    for d in range(len(place)):
        place[d] = 0
    found, moved = 0, True
    while moved:
        moved = False
        for d in range(len(count)):
            while place[d] < count[d]:
                o = orders[d, place[d]]
                a, b = before[o, 0], before[o, 1]
                if (a >= 0 and not placed[a]) or (b >= 0 and not placed[b]):
                    break
                placed[o] = True
                room.sequence[found] = o
                found += 1
                place[d] += 1
                moved = True
    return found == len(placed)


@compiled
def _paths(data: Data, room: Room, origins: int) -> None:
    """Write spans: the longest paths from the begins of devices, or from 0 as the only origin."""
    device, duration, tail = data.device, data.duration, data.tail
    before, lag = data.before, data.lag
    ends, last, spans = room.ends, room.last, room.spans
    for d in range(len(spans)):
        for e in range(len(spans)):
            spans[d, e] = NEVER
            last[d, e] = 0 if d == e or origins == 1 else NEVER
    for n in range(len(room.sequence)):
        o = room.sequence[n]
        d, a, b = device[o], before[o, 0], before[o, 1]
        for e in range(origins):
            start = last[d, e]
            if a >= 0:
                start = max(start, ends[a, e] + lag[o, 0])
            if b >= 0:
                start = max(start, ends[b, e] + lag[o, 1])
            if start < 0:  # nothing leads here from that device
                ends[o, e] = NEVER
                continue
            end = start + duration[o]
            ends[o, e] = end
            last[d, e] = end
            spans[e, d] = max(spans[e, d], end + tail[o])


@compiled
def _cycle_mean(spans: Ints, walks: Ints) -> float:
    """Return the largest mean length of a cycle (Karp 1978), as in `timing`."""
    n = len(spans)
    for v in range(n):
        walks[0, v] = 0
    for k in range(n):
        for v in range(n):
            walks[k + 1, v] = NEVER
            for u in range(n):
                if walks[k, u] >= 0 and spans[u, v] >= 0:
                    walks[k + 1, v] = max(walks[k + 1, v], walks[k, u] + spans[u, v])
    most = 0.0
    for v in range(n):
        least = math.inf
        for k in range(n):
            if walks[n, v] >= 0 and walks[k, v] >= 0:
                least = min(least, (walks[n, v] - walks[k, v]) / (n - k))
        if least < math.inf:
            most = max(most, least)
    return most


@compiled
def length(data: Data, orders: Ints, room: Room) -> tuple[float, float]:
    """Return makespan or period of orders, and their cost; twice `STUCK` if they never end."""
    if not _sorted(data, orders, room):
        return STUCK, STUCK
    devices = len(data.num_operations)
    total = 0.0
    if data.period:
        _paths(data, room, devices)
        value = _cycle_mean(room.spans, room.walks)
        for d in range(devices):
            total += room.spans[d, d]
    else:
        _paths(data, room, 1)
        value = 0.0
        for d in range(devices):
            value = max(value, float(room.spans[0, d]))
            total += room.spans[0, d]
    return value, value + SPREAD * total / devices


@compiled
def _passes(data: Data, order: Ints, at: int, to: int) -> bool:
    """Return True if an operation may pass those between its place and another."""
    stage, kind, microbatch = data.stage, data.kind, data.microbatch
    o = order[at]
    for x in range(min(at, to), max(at, to) + 1):
        q = order[x]
        related = kind[q] == kind[o] or microbatch[q] == microbatch[o]
        if q != o and stage[q] == stage[o] and related:
            return False
    return True


@compiled
def _move(order: Ints, at: int, to: int) -> None:
    """Take what is at a place to another; what lies between makes room."""
    o, step = order[at], 1 if to > at else -1
    for x in range(at, to, step):
        order[x] = order[x + step]
    order[to] = o


@compiled
def _fits(data: Data, order: Ints, count: int, capacity: int) -> bool:
    """Return True if memory suffices for the order of a device."""
    takes, frees = data.takes, data.frees
    level = 0
    for x in range(count):
        level += takes[order[x]]
        if level > capacity:
            return False
        level -= frees[order[x]]
    return True


@compiled
def anneal(
    data: Data,
    orders: Ints,
    best: Ints,
    value: float,
    temperatures: Floats,
    draws: Floats,
    room: Room,
) -> float:
    """Make a move for each row of draws; return the least value, whose orders are then `best`.

    `draws` has numbers of [0, 1) in four columns: for device, place, way and acceptance. `value` is
    that of `best`; `orders` are those of the state, before and after.
    """
    _, cost = length(data, orders, room)
    for n in range(len(temperatures)):
        d = int(draws[n, 0] * len(data.num_operations))
        order = orders[d]
        at = int(draws[n, 1] * data.num_operations[d])
        way = int(draws[n, 2] * 2 * FAR) - FAR
        to = at + way + (1 if way >= 0 else 0)
        if to < 0 or to >= data.num_operations[d] or not _passes(data, order, at, to):
            continue
        _move(order, at, to)
        new_value = new_cost = STUCK
        if data.capacity[d] < 0 or _fits(data, order, data.num_operations[d], data.capacity[d]):
            new_value, new_cost = length(data, orders, room)
        worse = new_cost - cost
        if new_cost < 0 or (worse > 0 and draws[n, 3] >= math.exp(-worse / temperatures[n])):
            _move(order, to, at)
            continue
        cost = new_cost
        if new_value < value - SAME:
            value = new_value
            for e in range(len(orders)):
                put(best[e], orders[e])
    return value


def room_for(data: Data) -> Room:
    """Return room for computations."""
    operations, devices = len(data.device), len(data.num_operations)
    return Room(
        np.zeros(operations, np.int64),
        np.zeros(operations, np.bool_),
        np.zeros(devices, np.int64),
        np.zeros((operations, devices), np.int64),
        np.zeros((devices, devices), np.int64),
        np.zeros((devices, devices), np.int64),
        np.zeros((devices + 1, devices), np.int64),
    )
