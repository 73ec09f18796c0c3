"""Doubles read as rationals, and the tolerances for comparing floats."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

Number = int | float | Fraction

#: Relative tolerance at which two objective values, or a bound and a value, count as equal when at
#: least one of them came out of floating-point arithmetic. Exact numbers are compared exactly.
#: It is relative, so the unit of an instance does not matter; only 0 is close to 0. By definition.
TOLERANCE = 1e-6

#: A solver's 0: linear programs are solved to about this, whatever the unit. By definition.
NOTHING = 1e-9

#: Relative gap at which an exact objective that is not integral and an exact bound count as closed:
#: both may come from a solver's doubles. By definition.
CLOSED_GAP = 1e-9


#: Doubles above this have all their digits. By definition.
TINY = 1e-290

#: Largest denominator of a simple fraction. A double this near to one is almost certainly meant as
#: it. By definition.
SIMPLE = 10**6

#: Size below which a decimal of six digits after the point has a double of its own, to which no
#: other fraction with a denominator of up to a thousand rounds. By definition.
SHORT = 2**20


def decimal_rational(x: Number) -> Fraction:
    """Return the rational that the shortest decimal form of `x` denotes: 0.1 is 1/10.

    This is how numbers in instance files are read: what the user wrote, not its nearest double.

    Raises
    ------
    ValueError
        If `x` is infinite or not a number.

    Examples
    --------
    >>> decimal_rational(0.1), 0.1 == 1 / 10 + 1e-18
    (Fraction(1, 10), True)
    """
    if not isinstance(x, float):
        return x if isinstance(x, Fraction) else Fraction(x)
    if not math.isfinite(x):
        raise ValueError(f"{x} is not a finite number")
    # Decimal reads text several times faster than Fraction does.
    return Fraction(*Decimal(float.__repr__(x)).as_integer_ratio())


def simplest_rational(x: Number) -> Fraction:
    """Return the simple fraction that rounds to the double `x`, or else its decimal value.

    This is how coefficients of models are read. A model's 0.1 or 1/3 has been through floating
    point, and 1/10 or 1/3 is the rational it stands for; integers and short dyadics are unchanged.
    A double near no simple fraction is read by its shortest decimal form, as in files, because a
    bound proved for a model must hold for the instance that the model was built from. So is one
    near a fraction p/q only by chance: with q^2 above the decimal's denominator there are more such
    fractions than decimals as short.

    Raises
    ------
    ValueError
        If `x` is infinite or not a number.

    Examples
    --------
    >>> simplest_rational(1 / 3), decimal_rational(1 / 3)
    (Fraction(1, 3), Fraction(3333333333333333, 10000000000000000))
    >>> simplest_rational(9018.0000299), 8143344207 / 903010
    (Fraction(90180000299, 10000000), 9018.0000299)
    """
    if not isinstance(x, float):
        return Fraction(x)
    if not math.isfinite(x):
        raise ValueError(f"{x} is not a finite number")
    if x.is_integer():  # most numbers of models
        return Fraction(int(x))
    if abs(x) < SHORT and (whole := round(x * SIMPLE)) / SIMPLE == x:  # most others
        return Fraction(whole, SIMPLE)
    above, below = x.as_integer_ratio()
    p_old, q_old, p, q = 0, 1, 1, 0
    while True:
        a, rest = divmod(above, below)
        p_old, q_old, p, q = p, q, a * p + p_old, a * q + q_old
        if q > SIMPLE:
            return decimal_rational(x)
        if p / q == x:
            decimal = decimal_rational(x)
            return Fraction(p, q) if q * q <= decimal.denominator else decimal
        above, below = below, rest


def as_double(x: Number) -> float:
    """Return a number as a double; numbers beyond the range of doubles become infinite."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def is_finite(x: Number) -> bool:
    """Return True if `x` is neither infinite nor NaN, however large it is."""
    return not isinstance(x, float) or math.isfinite(x)


def exceeds(a: Number, b: Number) -> bool:
    """Return True if `a > b` beyond doubt: exactly for exact numbers, else beyond `TOLERANCE`.

    Examples
    --------
    >>> exceeds(1.0 + 1e-12, 1.0), exceeds(Fraction(10**12 + 1, 10**12), Fraction(1))
    (False, True)
    """
    if (isinstance(a, float) or isinstance(b, float)) and is_finite(a) and is_finite(b):
        x, y = as_double(a), as_double(b)
        size = max(abs(x), abs(y))
        # Where doubles, whose own error is far smaller, leave no doubt; most calls end here.
        if TINY < size < math.inf and not 0.5 < (x - y) / (TOLERANCE * size) < 2:
            return x - y > TOLERANCE * size
        # In rationals, which neither overflow nor underflow.
        exact_a, exact_b = Fraction(a), Fraction(b)
        return exact_a - exact_b > Fraction(TOLERANCE) * max(abs(exact_a), abs(exact_b))
    return a > b


def agrees(a: Number, b: Number) -> bool:
    """Return True if `a` and `b` are equal, up to `TOLERANCE` when one of them is a float."""
    if a == b:
        return True
    return a == a and b == b and not exceeds(a, b) and not exceeds(b, a)  # noqa: PLR0124 (NaN)


def refutes(objective: Number, bound: Number, *, minimise: bool) -> bool:
    """Return True if a feasible solution's objective is better than a dual bound beyond doubt.

    A float within `NOTHING` of an objective of 0 is a solver's 0.

    Examples
    --------
    >>> refutes(9, 10, minimise=True), refutes(9, 9, minimise=True)
    (True, False)
    """
    if objective == 0 and isinstance(bound, float) and abs(bound) <= NOTHING:
        return False
    return exceeds(bound, objective) if minimise else exceeds(objective, bound)


def closes(objective: Number, bound: Number, *, integral: bool) -> bool:
    """Return True if a dual bound meets an objective, which is then optimal.

    Parameters
    ----------
    objective, bound : Number
    integral : bool
        True if objectives are integers, which must then be equal. Other exact numbers may come from
        a solver's arithmetic and may differ by `CLOSED_GAP`.

    Examples
    --------
    >>> closes(9, Fraction(17, 2), integral=True), closes(9, round_up(8.5), integral=True)
    (False, True)
    """
    if agrees(objective, bound):
        return True
    if integral or not (is_finite(objective) and is_finite(bound)):
        return False
    apart = abs(Fraction(objective) - Fraction(bound))
    return apart <= Fraction(CLOSED_GAP) * abs(Fraction(objective))


def round_up(x: Number) -> int:
    """Return the ceiling of `x`; of a float, after taking `TOLERANCE` off: never too high.

    For integral objectives, whose tolerance is never below the absolute one.

    Examples
    --------
    >>> round_up(Fraction(17, 2)), round_up(9.000000000001)
    (9, 9)
    """
    if isinstance(x, float):
        x = x - TOLERANCE * max(1.0, abs(x))
    return math.ceil(x)


def round_down(x: Number) -> int:
    """Return the floor of `x`; of a float, after adding `TOLERANCE`: never too low."""
    return -round_up(-x)
