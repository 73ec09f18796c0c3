r"""Exact arithmetic for the checks of certificates, in integers and rationals.

A check reads exact numbers (`gadgetopt.system.data.Rational`, or an instance's decimals), and sums
and compares them exactly. Irrational values are rounded in the direction that keeps the bound
valid. No double takes part between the certificate and the bound. A check of large tables may use
64-bit integers once it has made sure that no sum overflows.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number, decimal_rational

#: An upper estimate of the relative error of a few hundred operations on doubles, exp included: an
#: evaluator's value in doubles exceeds the exact value by at most this. By definition.
ROUNDING = Fraction(1, 2**42)

#: Most binary digits of a common denominator. A solver's doubles need a few thousand; with many
#: more, sums of rationals take excessive time and memory. Tuned: `benchmarks/constants.py`.
MOST_BITS = 2**15

#: Decimal digits to which irrational values are computed.
_DOWN = decimal.Context(
    prec=20, rounding=decimal.ROUND_FLOOR, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX
)
#: Larger exponents are replaced by this one; exp of smaller ones than its negative is taken as 0.
#: By definition.
_LARGE = 1000


def rationals(amounts: Iterable[Number]) -> list[Fraction]:
    """Return the rationals that the decimals of an instance denote."""
    return [decimal_rational(x) for x in amounts]


def common_denominator(numbers: Iterable[Fraction | int]) -> int:
    """Return the least common denominator.

    Raises
    ------
    ValueError
        If it has too many digits to compute with.

    Examples
    --------
    >>> common_denominator([Fraction(1, 6), Fraction(3, 4)])
    12
    """
    denominator = 1
    for d in {x.denominator for x in numbers}:
        denominator = math.lcm(denominator, d)
        if denominator.bit_length() > MOST_BITS:
            raise ValueError(f"the common denominator has more than {MOST_BITS:,} binary digits")
    return denominator


def whole_numbers(amounts: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return rationals as whole numbers over their least common denominator, and that.

    Examples
    --------
    >>> whole_numbers([Fraction(1, 6), Fraction(3, 4)])
    ([2, 9], 12)
    """
    denominator = math.lcm(*(x.denominator for x in amounts))
    return [x.numerator * (denominator // x.denominator) for x in amounts], denominator


def dot(prices: Iterable[Fraction | int], amounts: Iterable[Fraction | int]) -> Fraction:
    """Return the sum of prices times amounts."""
    pairs = zip(prices, amounts, strict=True)
    total = Fraction(0)
    for price, amount in pairs:
        if price:
            total += price * amount
    return total


def check_prices(prices: Sequence[Fraction], where: str, wanted: int, of_what: str) -> None:
    """Raise an error unless there are exactly as many prices as wanted and none is negative.

    Raises
    ------
    ValueError
        The message starts with `where`.
    """
    if len(prices) != wanted:
        raise ValueError(f"{where}: {len(prices)} for {wanted} {of_what}")
    for k, price in enumerate(prices):
        if price < 0:
            raise ValueError(f"{where}[{k}]: {price} is negative")


def ceiling(x: Fraction) -> int:
    """Return the least integer that is no less than a rational.

    Examples
    --------
    >>> ceiling(Fraction(17, 2))
    9
    """
    return -(-x.numerator // x.denominator)


def double_above(x: Fraction) -> float:
    """Return the least double that is no less than a rational.

    Raises
    ------
    ValueError
        If it is larger than any double.

    Examples
    --------
    >>> Fraction(1, 10) <= Fraction(double_above(Fraction(1, 10)))
    True
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


# -- irrational functions, rounded to the safe side --------------------------------------------


def exp_below(x: Fraction) -> Fraction:
    """Return a lower bound on the exponential, accurate to some twenty digits."""
    return Fraction(*exp_ratio_below(*x.as_integer_ratio()))


def exp_ratio_below(numerator: int, denominator: int) -> tuple[int, int]:
    """Return `exp_below` of a quotient as numerator and denominator, which is faster."""
    if numerator < -_LARGE * denominator:
        return 0, 1
    if numerator > _LARGE * denominator:
        numerator, denominator = _LARGE, 1
    rounded = _DOWN.divide(decimal.Decimal(numerator), decimal.Decimal(denominator))
    return _DOWN.next_minus(_DOWN.exp(rounded)).as_integer_ratio()


def log1p_above(x: Fraction) -> Fraction:
    """Return an upper bound on log(1 + x), accurate to some twenty digits."""
    quotient = _DOWN.divide(*map(decimal.Decimal, (1 + x).as_integer_ratio()))
    return Fraction(_DOWN.next_plus(_DOWN.ln(_DOWN.next_plus(quotient))))


def sqrt_above(x: Fraction) -> Fraction:
    """Return an upper bound on the square root, accurate to some thirty digits."""
    shift = 128 + max(0, x.denominator.bit_length() - x.numerator.bit_length())
    return Fraction(math.isqrt((x.numerator << 2 * shift) // x.denominator) + 1, 1 << shift)
