"""Numbers and gaps as text."""

from __future__ import annotations

import decimal
import math
import re
from decimal import Decimal
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number

#: Larger integers are printed with six significant digits, too. By definition.
LONG = 10**21


#: Whole numbers that are shortened in lines.
_LONG_NUMBER = re.compile(r"\d{41,}")
#: Significant digits of numbers that are no integers. By definition.
DIGITS = 6


def show(x: Number, digits: int = DIGITS) -> str:
    """Return a number as text: integers in full, others with so many significant digits."""
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    if not -LONG < x < LONG:
        return f"{Decimal(int(x)):.{digits}g}"
    if x == int(x):
        return str(int(x))
    return f"{float(x):.{digits}g}" if digits == DIGITS else f"{_quotient(x, digits):.{digits}g}"


def without_long_numbers(line: str) -> str:
    """Return a line in which whole numbers of many digits are shortened.

    Examples
    --------
    >>> without_long_numbers("nodes[0]: 1" + "0" * 99)
    'nodes[0]: 100000... (100 digits)'
    """
    return _LONG_NUMBER.sub(lambda found: f"{found[0][:6]}... ({len(found[0])} digits)", line)


def show_apart(a: Number, b: Number) -> tuple[str, str]:
    """Return two numbers as text, with as many digits as it takes to tell them apart.

    Examples
    --------
    >>> show_apart(Fraction(147, 10), Fraction(147, 10) - Fraction(1, 10**12))
    ('14.7', '14.699999999999')
    """
    digits = DIGITS
    first, second = show(a), show(b)
    while first == second and a != b and a == a and b == b:  # noqa: PLR0124 (NaN)
        digits += 1
        first, second = show(a, digits), show(b, digits)
    return first, second


def _quotient(x: Number, digits: int) -> Decimal:
    """Return a number rounded to so many significant digits, without zeros at its end."""
    context = decimal.Context(prec=digits)
    return context.divide(*map(Decimal, Fraction(x).as_integer_ratio())).normalize(context)


def show_gap(gap: float, digits: int) -> str:
    """Return a relative gap in percent; `inf` beyond a million, where the incumbent is almost 0."""
    return "inf" if gap > 1e4 else f"{100 * gap:.{digits}f}%"
