"""Greedy choice of single items by density."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import shares


def by_density(knapsack: Knapsack) -> Ints:
    """Return the items that fit, taken in the order of profit per part of their fullest row."""
    share = shares(knapsack)
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.where(share > 0, knapsack.profit / share, np.inf)
    left = knapsack.capacity.copy()
    chosen = []
    for c in np.argsort(-density, kind="stable").tolist():
        if np.all(knapsack.weight[c] <= left):
            left -= knapsack.weight[c]
            chosen.append(c)
    return np.sort(np.array(chosen, dtype=np.int64))
