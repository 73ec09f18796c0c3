r"""Exact numbers for the checks of certificates: integers and rationals of the standard library.

What a check reads is exact (`gadgetopt.system.data.Rational`, or an instance's decimals), what it
sums and compares is exact, and what is irrational is rounded in the direction that keeps the bound
true. No double is on the way from a certificate and an instance to a bound. A check that takes
large tables may keep them as 64-bit integers where it has made sure that no sum passes 64 bits.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number, decimal_rational

#: More than the relative error of a few hundred operations on doubles, and of exp: by so much what
#: an evaluator computes in doubles may be above the exact value.
ROUNDING = Fraction(1, 2**42)

#: Binary digits of the largest common denominator. What a solver's doubles stand for needs a few
#: thousand; with many more, sums of rationals take time and memory without end.
MOST_BITS = 2**15

#: Digits of what is irrational, rounded down.
_DOWN = decimal.Context(
    prec=20, rounding=decimal.ROUND_FLOOR, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX
)
#: Beyond this exponent either way exp is taken for that of this exponent, or for 0.
_LARGE = 1000


def rationals(amounts: Iterable[Number]) -> list[Fraction]:
    """Return the rationals that the decimals of an instance denote."""
    return [decimal_rational(x) for x in amounts]


def common_denominator(numbers: Iterable[Fraction]) -> int:
    """Return the least common denominator.

    Raises
    ------
    ValueError
        If it has too many digits to compute with.
    """
    denominator = 1
    for d in {x.denominator for x in numbers}:
        denominator = math.lcm(denominator, d)
        if denominator.bit_length() > MOST_BITS:
            raise ValueError(f"the common denominator has more than {MOST_BITS} binary digits")
    return denominator


def dot(prices: Iterable[Fraction | int], amounts: Iterable[Fraction | int]) -> Fraction:
    """Return the sum of prices times amounts."""
    pairs = zip(prices, amounts, strict=True)
    total = Fraction(0)
    for price, amount in pairs:
        if price:
            total += price * amount
    return total


def check_prices(prices: Sequence[Fraction], where: str, wanted: int, of_what: str) -> None:
    """Refuse prices of which there is not one for each of some things, or one is negative.

    Raises
    ------
    ValueError
        That starts with `where`.
    """
    if len(prices) != wanted:
        raise ValueError(f"{where}: {len(prices)} for {wanted} {of_what}")
    for k, price in enumerate(prices):
        if price < 0:
            raise ValueError(f"{where}[{k}]: {price} is negative")


def ceiling(x: Fraction) -> int:
    """Return the least integer that is no less than a rational."""
    return -(-x.numerator // x.denominator)


def double_above(x: Fraction) -> float:
    """Return the least double that is no less than a rational.

    Raises
    ------
    ValueError
        If it is larger than any double.
    """
    try:
        nearest = float(x)
    except OverflowError:
        nearest = math.inf if x > 0 else -math.inf
    if nearest < x:
        nearest = math.nextafter(nearest, math.inf)
    if math.isinf(nearest):
        raise ValueError("the bound is larger than any double")
    return nearest


# -- what is irrational, rounded up -----------------------------------------------------------


def exp_below(x: Fraction) -> Fraction:
    """Return no more than the exponential, to some twenty digits."""
    if x < -_LARGE:
        return Fraction(0)
    rounded = _DOWN.divide(*map(decimal.Decimal, min(x, Fraction(_LARGE)).as_integer_ratio()))
    return Fraction(_DOWN.next_minus(_DOWN.exp(rounded)))


def log1p_above(x: Fraction) -> Fraction:
    """Return no less than the logarithm of 1 + x, to some twenty digits."""
    quotient = _DOWN.divide(*map(decimal.Decimal, (1 + x).as_integer_ratio()))
    return Fraction(_DOWN.next_plus(_DOWN.ln(_DOWN.next_plus(quotient))))


def sqrt_above(x: Fraction) -> Fraction:
    """Return no less than the square root, to some thirty digits."""
    shift = 128 + max(0, x.denominator.bit_length() - x.numerator.bit_length())
    return Fraction(math.isqrt((x.numerator << 2 * shift) // x.denominator) + 1, 1 << shift)
