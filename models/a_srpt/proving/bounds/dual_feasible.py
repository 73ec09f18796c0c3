r"""Dual feasible functions of a server: how much of it a part of q GPUs takes up, at least.

:math:`f(q) \in [0, 1]` is dual feasible for capacity c if parts that fit on a server together have
:math:`\sum f(q) \le 1`. The share :math:`f(q) = q / c` is one; the families below, of Fekete and
Schepers 2001 and of Carlier, Clautiaux and Moukrim 2007, round it in favour of large parts. Prices
of parts are sought as sums of multiples of these functions, so that the worth of a server is the
sum of the multiples. A certificate's check does not rely on any of this.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Floats


def shares(capacity: int, sizes: set[int]) -> Floats:
    """Return dual feasible functions of 1, ..., `capacity`, the proportional one first.

    Those no larger than another at every size that jobs need are left out.

    Parameters
    ----------
    capacity : int
    sizes : set of int
        Sizes of parts at which a function may be useful.

    Returns
    -------
    functions : array of float, shape (functions, capacity)
    """
    c = capacity
    proportional = np.arange(1, c + 1) / c
    candidates = [_fekete_schepers(c, k) for k in range(1, c)]
    candidates += [_carlier(c, k) for k in range(2, c // 2 + 1)]
    at = np.array([q - 1 for q in sorted(sizes) if q <= c], dtype=np.int64)
    kept = [proportional]
    for function in candidates:
        values = function[at]
        if all((values > other[at] + 1e-12).any() for other in kept):
            kept = [kept[0], *(f for f in kept[1:] if (f[at] > values + 1e-12).any())]
            kept.append(function)
    return np.array(kept)


def _fekete_schepers(c: int, k: int) -> Floats:
    rounded = [q * k if (k + 1) * q % c == 0 else c * ((k + 1) * q // c) for q in range(1, c + 1)]
    return np.array(rounded) / (c * k)


def _carlier(c: int, k: int) -> Floats:
    full = c // k

    def value(q: int) -> int:
        if 2 * q > c:
            return 2 * (full - (c - q) // k)
        return full if 2 * q == c else 2 * (q // k)

    return np.array([value(q) for q in range(1, c + 1)]) / (2 * full)
