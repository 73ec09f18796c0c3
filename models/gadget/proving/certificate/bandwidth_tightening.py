"""Tightening of link bandwidths to the largest subset sum of ring bandwidths.

A ring loads a link of a two-tier cluster with all of its bandwidth or not at all. So the load of a
link is a sum over a subset of the jobs, and bandwidth above the largest such sum is useless
(reconstructed).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from gadgetopt.numbers.memory import MOST_CELLS as TABLE_CELLS

#: Limit on the bits of the sums; more would take too much memory.
MOST_BITS = 5 * TABLE_CELLS


def tightened(capacities: Sequence[int], bandwidths: Iterable[int]) -> list[int]:
    """Return, for each capacity, the largest sum of a subset of bandwidths that it holds.

    If sums are too large to be listed, capacities stay as they are.

    Parameters
    ----------
    capacities : sequence of int
    bandwidths : iterable of int
        Ring bandwidths of the jobs that may use the links.

    Notes
    -----
    The possible sums are the bits of one large integer.
    """
    used = [b for b in bandwidths if b > 0]
    unit = math.gcd(*used) if used else 1
    most = min(sum(used), max(capacities, default=0)) // unit
    if most > MOST_BITS:
        return list(capacities)
    mask = (1 << (most + 1)) - 1
    sums = 1
    for b in used:
        sums |= (sums << (b // unit)) & mask
    out = []
    for capacity in capacities:
        below = sums & ((1 << (capacity // unit + 1)) - 1)
        out.append((below.bit_length() - 1) * unit)
    return out
