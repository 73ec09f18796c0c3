"""Between an assignment that fits the memory and one that does not: what can be taken from both.

Nodes at which the two differ fall into connected parts of the graph. Parts do not touch each other,
so each can be taken from either assignment, and its cost and memory do not depend on the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...subproblems.graph import LabelGraph


def mixed(
    graph: LabelGraph, fitting: Sequence[int], other: Sequence[int], groups: int
) -> list[int]:
    """Return an assignment that fits, with parts of the other where they save most a byte.

    Parameters
    ----------
    graph : LabelGraph
        With a memory limit.
    fitting, other : sequence of int
        Labels by position; the first fits the limit.
    groups : int
        Number of placements.
    """
    part_of = _parts(graph, [a != b for a, b in zip(fitting, other, strict=True)])
    count = 1 + max(part_of, default=-1)
    saved, added = [0] * count, [[0] * groups for _ in range(count)]
    for o, part in enumerate(part_of):
        if part >= 0:
            costs, memory = graph.tables[graph.unary[o]], graph.tables[graph.memory[o]]
            saved[part] += int(costs[fitting[o]]) - int(costs[other[o]])
            if graph.groups[o] >= 0:
                change = int(memory[other[o]]) - int(memory[fitting[o]])
                added[part][graph.groups[o]] += change
    for u, v, t in graph.edges:
        part = max(part_of[u], part_of[v])
        if part >= 0:
            table = graph.tables[t]
            saved[part] += int(table[fitting[u], fitting[v]]) - int(table[other[u], other[v]])
    limit = graph.limit_bytes or 0
    left = [limit - used for used in graph.memory_bytes(fitting, groups)]

    def worth(part: int) -> tuple[bool, float]:
        more = max(sum(added[part]), 0)
        return more > 0, -saved[part] / max(more, 1)

    taken = set()
    for part in sorted((p for p in range(count) if saved[p] > 0), key=worth):
        if all(more <= room for more, room in zip(added[part], left, strict=True)):
            taken.add(part)
            left = [room - more for more, room in zip(added[part], left, strict=True)]
    return [b if part in taken else a for a, b, part in zip(fitting, other, part_of, strict=True)]


def _parts(graph: LabelGraph, differs: Sequence[bool]) -> list[int]:
    """Return the connected part of every node that differs, -1 for the others."""
    parent = list(range(len(differs)))

    def root(o: int) -> int:
        while parent[o] != o:
            parent[o] = parent[parent[o]]
            o = parent[o]
        return o

    for u, v, _ in graph.edges:
        if differs[u] and differs[v]:
            parent[root(u)] = root(v)
    number: dict[int, int] = {}
    return [number.setdefault(root(o), len(number)) if d else -1 for o, d in enumerate(differs)]
