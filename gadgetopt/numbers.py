"""Exact numbers: how a double is read as a rational, and the one tolerance for comparing floats."""

from __future__ import annotations

import math
from fractions import Fraction

Number = int | float | Fraction

#: Relative tolerance at which two objective values, or a bound and a value, count as equal when at
#: least one of them came out of floating-point arithmetic. Exact numbers are compared exactly.
TOLERANCE = 1e-6

#: Relative gap at which an exact objective that is not integral and an exact bound count as closed:
#: both may have been read off a solver's doubles before they were made exact.
CLOSED_GAP = 1e-9


#: Largest denominator of a simple fraction. Hardly any double is near one unless it stands for it.
SIMPLE = 10**6


def decimal_rational(x: Number) -> Fraction:
    """Return the rational that the shortest decimal writing of `x` denotes: 0.1 is 1/10.

    This is how numbers in instance files are read: what the user wrote, not its nearest double.
    """
    return (
        x if isinstance(x, Fraction) else Fraction(repr(x)) if isinstance(x, float) else Fraction(x)
    )


def simplest_rational(x: Number) -> Fraction:
    """Return the simple fraction that rounds to the double `x`, else what its decimals say.

    This is how coefficients of models are read. A model's 0.1 or 1/3 has been through floating
    point, and 1/10 or 1/3 is the rational it stands for; integers and short dyadics are unchanged.
    A double near no simple fraction is what its shortest decimal writing denotes, as in files: a
    bound proved for a model must hold for the instance that the model was built from.

    Raises
    ------
    ValueError
        If `x` is infinite or not a number.
    """
    if not isinstance(x, float):
        return Fraction(x)
    if not math.isfinite(x):
        raise ValueError(f"{x} is not a finite number")
    rest = Fraction(x)
    p_old, q_old, p, q = 0, 1, 1, 0
    while True:
        a = math.floor(rest)
        p_old, q_old, p, q = p, q, a * p + p_old, a * q + q_old
        if q > SIMPLE:
            return decimal_rational(x)
        if p / q == x:
            return Fraction(p, q)
        rest = 1 / (rest - a)


def as_double(x: Number) -> float:
    """Return a number as a double; what is beyond doubles is infinite."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def exceeds(a: Number, b: Number) -> bool:
    """Say whether `a > b` beyond doubt: exactly for exact numbers, else beyond `TOLERANCE`."""
    if isinstance(a, float) or isinstance(b, float):
        x, y = as_double(a), as_double(b)
        if math.isinf(x) or math.isinf(y):
            return a > b
        return x - y > TOLERANCE * max(1.0, abs(x), abs(y))
    return a > b


def agrees(a: Number, b: Number) -> bool:
    """Say whether `a` and `b` are equal, up to `TOLERANCE` when one of them is a float."""
    return a == a and b == b and not exceeds(a, b) and not exceeds(b, a)  # noqa: PLR0124 (NaN)


def round_up(x: Number) -> int:
    """Return the ceiling of `x`; of a float, after taking `TOLERANCE` off: never too high."""
    if isinstance(x, float):
        x = x - TOLERANCE * max(1.0, abs(x))
    return math.ceil(x)


def round_down(x: Number) -> int:
    """Return the floor of `x`; of a float, after adding `TOLERANCE`: never too low."""
    return -round_up(-x)
