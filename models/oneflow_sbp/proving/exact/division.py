"""Where a case is divided in two."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ...subproblems.graph import (
    FORBIDDEN,
    LabelGraph,
)
from ..lagrangian import (
    Ascent,
    Point,
)


def widest(graph: LabelGraph, point: Point) -> tuple[int, tuple[int, ...]] | None:
    """Return the operator of most labels and neighbours, and its label in the assignment."""
    if point.attained:
        return None
    degree = [0] * len(graph.domains)
    for u, v, _ in graph.edges:
        degree[u] += 1
        degree[v] += 1
    wide = [o for o in range(graph.operators) if len(graph.domains[o]) > 1]
    if not wide:
        return None
    o = max(wide, key=lambda o: (degree[o] * len(graph.domains[o]), -o))
    return o, (point.labels[o],)


def most_different(graph: LabelGraph, ascent: Ascent) -> tuple[int, tuple[int, ...]] | None:
    """Return the operator at which memory differs most, and its labels of less memory."""
    limit = graph.limit_bytes
    if limit is None:
        return None
    allowed = [p for p in ascent.points if p.cost < FORBIDDEN]
    fitting = [p for p in allowed if p.fits(limit)]
    others = [p for p in allowed if not p.fits(limit)]
    if not others:
        return None
    other = max(others, key=lambda p: p.bound)
    light = (
        max(fitting, key=lambda p: p.bound).labels
        if fitting
        else [int(graph.tables[t].argmin()) for t in graph.memory]
    )
    most, found = 0, None
    for o in range(graph.operators):
        memory = graph.tables[graph.memory[o]]
        less, more = sorted((int(memory[light[o]]), int(memory[other.labels[o]])))
        if more - less > most:
            most, found = more - less, (o, _at_most(memory, less))
    return found


def most_varied(graph: LabelGraph) -> tuple[int, tuple[int, ...]] | None:
    """Return the operator of the largest range of memory, else of most labels, and one part."""
    spread = {
        o: (int(np.ptp(graph.tables[graph.memory[o]])), len(graph.domains[o]), -o)
        for o in range(graph.operators)
        if len(graph.domains[o]) > 1
    }
    if not spread:
        return None
    o = max(spread, key=spread.__getitem__)
    memory = graph.tables[graph.memory[o]]
    return o, _at_most(memory, int(memory.min())) if spread[o][0] else (0,)


def _at_most(memory: Ints, most: int) -> tuple[int, ...]:
    return tuple(p for p in range(len(memory)) if memory[p] <= most)
