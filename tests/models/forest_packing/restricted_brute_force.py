"""Optima of few, equal or shallow trees on tiny networks, by listing every choice of trees.

Import with `from .restricted_brute_force import ...`. Nothing but the fields of the instance and
the list of all trees is used.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, product

import numpy as np
from scipy.optimize import linprog

from gadgetopt.models.forest_packing.instance import ForestPackingInstance

from .brute_force import all_trees, rows

Uses = tuple[int, ...]


def two_way_trees(instance: ForestPackingInstance) -> list[Uses]:
    """Row uses of every undirected spanning tree of cables, used in both directions."""
    limits = rows(instance)
    cables = sorted({tuple(sorted(arc)) for _, _, arcs in limits for arc in arcs})
    n = len(instance.workers)
    found = []
    for tree in combinations(cables, n - 1):
        reached = {instance.workers[0]}
        for _ in range(n):
            reached |= {v for e in tree if reached & set(e) for v in e}
        if len(reached) == n:
            chosen = {arc for e in tree for arc in (e, e[::-1])}
            found.append(tuple(len(chosen & arcs) for _, _, arcs in limits))
    return found


def pairs(instance: ForestPackingInstance) -> list[Uses]:
    """Row uses of every pair of an in- and an out-tree; of every tree if there is one stage."""
    limits = rows(instance)
    trees: dict[tuple[str, int], list[Uses]] = {}
    for tree in all_trees(instance):
        arcs = [arc for path in tree.paths for arc in pairwise(path)]
        uses = tuple(sum(arc in members for arc in arcs) for _, _, members in limits)
        trees.setdefault((tree.stage, tree.root), []).append(uses)
    roots = [instance.root] if instance.root is not None else list(instance.workers)
    found = set()
    for r in roots:
        for chosen in product(*(trees.get((stage, r), []) for stage in instance.stages)):
            found.add(tuple(map(sum, zip(*chosen, strict=True))))
    return sorted(found)


def best_of(instance: ForestPackingInstance, columns: list[Uses], most: int) -> float:
    """The largest total rate of at most so many columns."""
    capacity = [c for _, c, _ in rows(instance)]
    best = 0.0
    # A column that uses every row at least as often as another one is not needed.
    columns = [
        a
        for a in set(columns)
        if not any(b != a and all(x <= y for x, y in zip(b, a, strict=True)) for b in columns)
    ]
    for chosen in combinations(columns, min(most, len(columns))):
        uses = np.array(chosen, dtype=float).T
        # The bound of every row alone spares most of the linear programs.
        if _bound(uses, capacity) > best + 1e-9:
            solved = linprog(-np.ones(len(chosen)), A_ub=uses, b_ub=capacity, method="highs")
            best = max(best, -solved.fun)
    return best


def best_equal(instance: ForestPackingInstance, columns: list[Uses], most: int) -> Fraction:
    """The largest total rate of at most so many columns of equal rate, some of them repeated."""
    capacity = [Fraction(c) for _, c, _ in rows(instance)]
    best = Fraction(0)
    for k in range(1, most + 1):
        for chosen in combinations_with_replacement(columns, k):
            loads = map(sum, zip(*chosen, strict=True))
            congestion = max(n / c for n, c in zip(loads, capacity, strict=True))
            best = max(best, k / congestion)
    return best


def _bound(uses: np.ndarray, capacity: list[float]) -> float:
    widths = np.min(
        np.where(uses > 0, np.array(capacity)[:, None] / np.maximum(uses, 1), np.inf), 0
    )
    return float(widths.sum())
