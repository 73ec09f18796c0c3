r"""The offline optimum: what an all-knowing seller earns.

.. math:: OPT(v) = \max \sum_j v_j z_j, \quad \sum_j d_{jr} z_j \le C_r, \ z \in \{0, 1\}.  \tag{P}

Of one resource and demands of one unit, the sum of the k largest values; else a dynamic program
over the units used.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from fractions import Fraction


def largest(values: Sequence[Fraction], k: int) -> Fraction:
    """Return the sum of the k largest values."""
    return sum(heapq.nlargest(k, values), Fraction(0))


def is_unit(capacity: Sequence[int], demands: Sequence[Sequence[int]]) -> bool:
    """Return True if there is one resource, of which every request demands one unit."""
    return len(capacity) == 1 and all(demand[0] == 1 for demand in demands)


def offline_optimum(
    capacity: Sequence[int], values: Sequence[Fraction], demands: Sequence[Sequence[int]]
) -> Fraction:
    """Return the optimum of (P), exactly.

    Notes
    -----
    Memory and steps per request grow with the product of capacities, unless demands are units of
    one resource.
    """
    if is_unit(capacity, demands):
        return largest(values, capacity[0])
    best: dict[tuple[int, ...], Fraction] = {(0,) * len(capacity): Fraction(0)}
    for value, demand in zip(values, demands, strict=True):
        for used, welfare in list(best.items()):
            now = tuple(u + d for u, d in zip(used, demand, strict=True))
            if all(u <= c for u, c in zip(now, capacity, strict=True)):
                best[now] = max(best.get(now, Fraction(0)), welfare + value)
    return max(best.values())
