"""The offline optimum by dynamic programming over the units used, in integers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.memory import MOST_CELLS as TABLE_CELLS

from ....subproblems.whole import Whole

#: Table entries that the dynamic program may compute, and those it may hold.
MOST_STEPS, MOST_CELLS = 10**9, TABLE_CELLS // 2


class TableTooLarge(ValueError):
    """The dynamic program would take too long."""


def best_welfare(capacity: Sequence[int], values: Whole, demands: Sequence[Sequence[int]]) -> int:
    """Return the optimum of (P) by dynamic programming over the units used.

    Parameters
    ----------
    capacity : sequence of int
    values : array of integers, shape (requests,)
    demands : sequence of sequence of int, shape (requests, resources)

    Raises
    ------
    TableTooLarge
    """
    cells = math.prod(c + 1 for c in capacity)
    if cells > MOST_CELLS or cells * len(values) > MOST_STEPS:
        raise TableTooLarge(
            f"the table has {cells} states for {len(values)} requests, expected at most "
            f"{MOST_CELLS} states and {MOST_STEPS} in all"
        )
    amounts = values.tolist()
    small = sum(amounts) < 2**62
    best = np.zeros([c + 1 for c in capacity], dtype=np.int64 if small else object)
    for amount, demand in zip(amounts, demands, strict=True):
        before = tuple(slice(0, max(0, c + 1 - d)) for c, d in zip(capacity, demand, strict=True))
        after = tuple(slice(d, None) for d in demand)
        with_it = best[before] + amount
        without = best[after]
        np.maximum(without, with_it, out=without)
    return int(best[tuple(capacity)])
