"""Greed on single items: the plainest choice that fits."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import shares


def by_density(knapsack: Knapsack) -> Ints:
    """Return the items that fit, taken by profit per part of the fullest row they fill."""
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
