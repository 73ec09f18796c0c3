"""Minimum-cost spanning out-arborescences of dense cost matrices (Chu-Liu and Edmonds).

The cycles that the algorithm contracts do not depend on the root as long as every node may take its
cheapest in-arc. One contraction therefore serves every root: it is done once, in O(n^2), and each
root expands it in O(n). An in-arborescence is an out-arborescence of the transposed matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.tolerance import Number

Costs = npt.NDArray[Any]

#: A missing arc in a matrix of 64-bit integers; in other matrices it is infinity.
MISSING = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Arborescences:
    """A cheapest out-arborescence from every root, kept as the tree of contracted cycles.

    Attributes
    ----------
    cost : tuple of Number
        Cost from each root; infinity where the root does not reach every node.
    """

    cost: tuple[Number, ...]
    _above: list[int]
    _members: list[list[int]]
    _tail: list[int]
    _head: list[int]

    def parents(self, root: int) -> Ints:
        """Return the parent of every node in the arborescence from `root`, -1 at the root.

        All are -1 if the root does not reach every node.
        """
        n = len(self.cost)
        parent = np.full(n, -1, dtype=np.int64)
        if self.cost[root] == math.inf:
            return parent
        # Expand: the contracted node that an arc enters gives up its own cycle's arc into the
        # entry, down to the node itself; every other member of those cycles keeps its arc.
        pending: list[int] = []
        self._open(root, -1, pending)
        while pending:
            entered = pending.pop()
            v = self._head[entered]
            parent[v] = self._tail[entered]
            self._open(v, entered, pending)
        return parent

    def _open(self, v: int, upto: int, pending: list[int]) -> None:
        """Undo the cycles around `v` that lie in `upto`; list their other members."""
        while v != upto and self._above[v] >= 0:
            cycle = self._above[v]
            pending.extend(u for u in self._members[cycle] if u != v)
            v = cycle


def minimum_arborescences(cost: Costs) -> Arborescences:
    """Return a cheapest spanning out-arborescence from every root.

    Exact for matrices of integers or of Python numbers (dtype object). Ties go to the arc with the
    smaller tail.

    Parameters
    ----------
    cost : ndarray, shape (n, n)
        Cost of the arc from row to column; missing arcs cost infinity, in a matrix of 64-bit
        integers `MISSING`. The diagonal is ignored. Integers up to 2^62 in absolute value.
    """
    n = len(cost)
    missing: Any = MISSING if cost.dtype.kind == "i" else math.inf
    # Each live contracted node is represented by one of its nodes. into[v, u] is the reduced cost
    # of the cheapest arc from u to v, arc[v, u] that arc as tail * n + head.
    into = cost.T.copy()
    np.fill_diagonal(into, missing)
    arc = np.arange(n * n).reshape(n, n).T.copy()
    name = list(range(n))  # of the contracted node that a node stands for
    above, tail, head = [-1] * n, [-1] * n, [-1] * n
    members: list[list[int]] = [[] for _ in range(n)]
    paid: list[Any] = [0] * n  # reduced cost of the in-arc
    absent = [0] * n  # 1 if it is missing
    alive = [True] * n
    left = n
    path, position = [0], [-1] * n
    position[0] = 0
    while left > 1:
        v = path[-1]
        u = int(into[v].argmin())
        least = into[v, u]
        me = name[v]
        if least == missing:
            # Nothing enters this node: only roots inside it reach all. Take an arc that is not
            # there, so that the others get contracted too.
            u = path[0] if len(path) > 1 else next(w for w in range(n) if alive[w] and w != v)
            absent[me] = 1
        else:
            tail[me], head[me] = divmod(int(arc[v, u]), n)
            paid[me] = _number(least)
        if position[u] < 0:
            position[u] = len(path)
            path.append(u)
            continue
        cycle = path[position[u] :]
        del path[position[u] + 1 :]
        _contract(into, arc, cycle, [paid[name[w]] for w in cycle], missing)
        new = len(above)
        above.append(-1)
        members.append([name[w] for w in cycle])
        tail.append(-1)
        head.append(-1)
        paid.append(0)
        absent.append(0)
        for w in cycle:
            above[name[w]] = new
        for w in cycle[1:]:
            alive[w] = False
            position[w] = -1
        name[cycle[0]] = new
        left -= len(cycle) - 1
    return Arborescences(_costs(n, above, paid, absent), above, members, tail, head)


def _contract(into: Costs, arc: Ints, cycle: list[int], paid: list[Any], missing: Any) -> None:
    """Merge the nodes of a cycle into its first; an arc into one of them saves its own in-arc."""
    n = len(into)
    first, nodes = cycle[0], np.array(cycle)
    rows = into[nodes]
    saved = rows - np.array(paid, dtype=into.dtype)[:, None]
    if missing == MISSING:
        saved[rows == MISSING] = MISSING
    entry = saved.argmin(axis=0)
    every = np.arange(n)
    into[first] = saved[entry, every]
    arc[first] = arc[nodes[entry], every]
    exit_ = nodes[into[:, nodes].argmin(axis=1)]
    into[:, first] = into[every, exit_]
    arc[:, first] = arc[every, exit_]
    into[:, nodes[1:]] = missing
    into[first, nodes] = missing


def _costs(n: int, above: list[int], paid: list[Any], absent: list[int]) -> tuple[Number, ...]:
    """Cost from each root: what all nodes and cycles paid, but for those that hold the root."""
    on_path, absent_on_path = paid[:], absent[:]
    for x in reversed(range(len(above))):
        if above[x] >= 0:
            on_path[x] += on_path[above[x]]
            absent_on_path[x] += absent_on_path[above[x]]
    total, total_absent = sum(paid), sum(absent)
    return tuple(
        total - on_path[r] if absent_on_path[r] == total_absent else math.inf for r in range(n)
    )


def _number(x: Any) -> Number:
    """Return a numpy scalar as a Python number."""
    number: Number = x.item() if isinstance(x, np.generic) else x
    return number
