"""Bandwidths lowered to what sets of jobs can use of them (reconstructed).

A ring loads a link of a two-tier cluster with all of its bandwidth or not at all, so the load of a
link is a sum over a subset of the jobs: what is above the largest such sum can never be used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

#: Bits of the sums; more would take the memory.
MOST_BITS = 10**8


def tightened(capacities: Sequence[int], bandwidths: Iterable[int]) -> list[int]:
    """Return, for each capacity, the largest sum of a subset of bandwidths that it holds.

    Where sums are too large to be listed, capacities stay as they are.

    Parameters
    ----------
    capacities : sequence of int
    bandwidths : iterable of int
        Of the jobs that may use the links.

    Notes
    -----
    Sums are the bits of one large integer.
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
