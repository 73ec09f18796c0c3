r"""Dominated labels: those that another label of the node can always replace (Goldstein's test).

Label k of node o is dominated by k' if, whatever the neighbours have, k costs no less:

.. math:: \theta_o(k) - \theta_o(k') + \sum_v \min_y [\theta_{ov}(k, y) - \theta_{ov}(k', y)] \ge 0.

Removing it keeps an optimal assignment. Nodes with equal tables around them are decided once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gadgetopt.numbers.arrays import Bools, Ints

from ..subproblems.graph import (
    FORBIDDEN,
    LabelGraph,
)

#: Nodes, and the labels that they lost one after the other, each with one that dominates it.
Replaced = Sequence[tuple[int, Sequence[tuple[int, int]]]]

#: Where sums are cut, far above every sum of finite entries. By definition.
_CUT = 2**60
#: Sums of a test; nodes that would take more are left as they are.
#: Tuned: `benchmarks/constants.py`.
_MOST_SUMS = 2**24


@dataclass
class Undominated:
    """What is left without dominated labels.

    Attributes
    ----------
    kept : dict
        Positions that nodes keep, for those that lose some.
    replaced : Replaced
    """

    kept: dict[int, tuple[int, ...]] = field(default_factory=dict)
    replaced: list[tuple[int, Sequence[tuple[int, int]]]] = field(default_factory=list)


def undominated(graph: LabelGraph, rounds: int = 20) -> Undominated:
    """Remove dominated labels.

    Parameters
    ----------
    graph : LabelGraph
    rounds : int
        A round removes from all nodes what their neighbours' labels of the last one allow.
    """
    found = Undominated()
    kept = found.kept
    reduced = graph
    known: dict[object, list[tuple[int, int]]] = {}
    changed = set(range(len(graph.domains)))
    around: list[list[tuple[int, int, int]]] = [[] for _ in graph.domains]
    for e, (u, v, _) in enumerate(graph.edges):
        around[u].append((e, 0, v))
        around[v].append((e, 1, u))
    for _ in range(rounds):
        cut: dict[int, tuple[int, ...]] = {}
        compared = _Compared(reduced)
        for o in sorted(changed):
            if len(reduced.domains[o]) == 1:
                continue
            tables = [(reduced.edges[e][2], axis) for e, axis, _ in around[o]]
            key = (reduced.unary[o], *sorted(tables))
            if key not in known:
                known[key] = _dominated(compared, reduced.unary[o], tables)
            if known[key]:
                domain, lost = reduced.domains[o], {p for p, _ in known[key]}
                cut[o] = tuple(p for p in range(len(domain)) if p not in lost)
                found.replaced.append((o, [(domain[p], domain[q]) for p, q in known[key]]))
        if not cut:
            break
        reduced = reduced.restricted(cut)
        for o, left in cut.items():
            before = kept.get(o)
            kept[o] = left if before is None else tuple(before[p] for p in left)
        changed = {v for o in cut for _, _, v in around[o]} | set(cut)
    return found


def _dominated(
    compared: _Compared, unary: int, tables: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the positions of dominated labels, and of what dominates them."""
    own = compared.graph.tables[unary]
    labels = len(own)
    if any(compared.graph.tables[t].size * labels > _MOST_SUMS for t, _ in tables):
        return []
    excess = own[:, None] - own[None, :]
    possible = np.ones((labels, labels), dtype=bool)
    for t, axis in tables:
        least, replaceable = compared.rows(t, axis)
        possible &= replaceable
        excess = np.minimum(excess + least, _CUT)
    dominated = possible & (excess >= 0)
    alive = np.ones(labels, dtype=bool)
    found = []
    for k in range(labels):
        others = dominated[k] & alive
        others[k] = False
        if others.any():
            alive[k] = False
            found.append((k, int(others.argmax())))
    return found


class _Compared:
    """Pairs of rows, or of columns, of a graph's tables; nodes share tables, so each is done once.

    Parameters
    ----------
    graph : LabelGraph
    """

    def __init__(self, graph: LabelGraph):
        self.graph = graph
        self._known: dict[tuple[int, int], tuple[Ints, Bools]] = {}

    def rows(self, t: int, axis: int) -> tuple[Ints, Bools]:
        """Return the least difference of two rows, and if the second allows what the first does.

        Entries that the first row forbids do not count.
        """
        if (t, axis) not in self._known:
            table = self.graph.tables[t].T if axis else self.graph.tables[t]
            self._known[t, axis] = _least_excess(table, table >= FORBIDDEN)
        return self._known[t, axis]


def _least_excess(table: Ints, forbidden: Bools) -> tuple[Ints, Bools]:
    """Return what `_Compared.rows` does."""
    excess = table[:, None, :] - table[None, :, :]
    if not forbidden.any():
        return excess.min(axis=2), np.ones(excess.shape[:2], dtype=bool)
    excess = np.where(forbidden[:, None, :], _CUT // 64, excess)
    broken: Bools = np.any(forbidden[None, :, :] & ~forbidden[:, None, :], axis=2)
    return excess.min(axis=2), np.logical_not(broken)
