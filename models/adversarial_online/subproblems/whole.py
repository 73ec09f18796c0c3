"""Decimals as integers over one denominator, exactly: sums and comparisons of many of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.numbers.tolerance import decimal_rational

#: 64-bit integers, or Python's where those are too small.
Whole = NDArray[Any]

#: Decimals of at most fifteen digits are told apart by doubles. By definition.
_FIFTEEN_DIGITS = 1e15

#: Digits behind the point that are tried. By definition.
_PLACES = 9

#: Numbers that are computed with at once, so that temporary arrays stay in the caches.
#: Tuned: `benchmarks/constants.py`.
AT_ONCE = 2**15


def whole_numbers(values: Sequence[float]) -> tuple[Whole, int]:
    """Return the decimals that doubles denote, times their common denominator, and that.

    Raises
    ------
    ValueError
        If the denominator has too many digits to compute with.
    """
    doubles = np.asarray(values, dtype=float)
    for places in range(_PLACES + 1):
        scale = 10**places
        if (found := _times(doubles, scale)) is not None:
            return found, scale
    exact = [decimal_rational(value) for value in values]
    scale = common_denominator(exact)
    whole = np.empty(len(exact), dtype=object)
    whole[:] = [int(value * scale) for value in exact]
    return whole, scale


def _times(doubles: Floats, scale: int) -> Whole | None:
    """Return the decimals times a power of ten; None if not all are whole and certain."""
    whole = np.empty(len(doubles), dtype=np.int64)
    for begin in range(0, len(doubles), AT_ONCE):
        part = doubles[begin : begin + AT_ONCE]
        rounded = np.rint(part * scale)
        # n/10^d of at most fifteen digits is the decimal of the double nearest to it.
        if np.abs(rounded).max() > _FIFTEEN_DIGITS or not np.array_equal(rounded / scale, part):
            return None
        whole[begin : begin + AT_ONCE] = rounded
    return whole
