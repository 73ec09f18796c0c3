"""Frieze and Clarke's algorithm for the multi-dimensional knapsack, step by step.

Nothing here is fast: the linear program of every set of at most k items is solved.

Letters, as in the paper: c_j profit and a_ij weight of item j in row i, b_i the capacity of row i,
S a set of at most k items, T(S) the items that are worth more than the least of S.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from scipy.optimize import linprog

from ..instance import KnapsackInstance, KnapsackSolution

#: What floating point may leave of a whole number. By definition.
EPS = 1e-7


def frieze_clarke(instance: KnapsackInstance, k: int = 2) -> KnapsackSolution:
    """Return the best rounded linear program over all sets S.

    LP(S) has x = 1 on S and x = 0 on T(S).
    """
    items = [group[0] for group in instance.groups]
    c = [item.profit for item in items]
    a = [item.weights for item in items]
    b = instance.capacities
    J, M = range(len(items)), range(len(b))
    z_best, x_best = Fraction(0), [0 for _ in J]
    for size in range(min(k, len(J)) + 1):
        for S in combinations(J, size):
            if any(sum(a[j][i] for j in S) > b[i] for i in M):
                continue
            T = [t for t in J if S and t not in S and c[t] > min(c[j] for j in S)]
            x_B = vertex(c, a, b, [(1, 1) if j in S else (0, 0) if j in T else (0, 1) for j in J])
            x = [math.floor(x_j + EPS) for x_j in x_B]
            z = sum((c[j] for j in J if x[j]), Fraction(0))
            if z > z_best:
                z_best, x_best = z, x
    return KnapsackSolution(chosen=tuple(0 if x_j else None for x_j in x_best))


def vertex(
    c: Sequence[Fraction],
    a: Sequence[Sequence[Fraction]],
    b: Sequence[Fraction],
    bounds: list[tuple[int, int]],
) -> list[float]:
    """Return a vertex of most profit within the capacities, by the simplex method."""
    costs = [-float(c_j) for c_j in c]
    rows = [[float(a_j[i]) for a_j in a] for i in range(len(b))]
    room = [float(b_i) for b_i in b]
    return [float(x_j) for x_j in linprog(costs, rows, room, bounds=bounds, method="highs-ds").x]
