"""Exact numbers as finite decimals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.proofs.reading.decimals import INFINITE, MOST_DIGITS, Exact

_TOO_LONG: int = 10**MOST_DIGITS


def decimal(x: Exact) -> str:
    """Return the decimal that a number is.

    Raises
    ------
    ModelRefused
        If it has more digits than readers take.
    """
    places = _places(x.denominator)
    digits = abs(x.numerator) * 10**places // x.denominator
    if places >= MOST_DIGITS or digits >= _TOO_LONG:
        raise ModelRefused(f"a number has more than {MOST_DIGITS} digits")
    text, sign = str(digits), "-" if x < 0 else ""
    if places == 0:
        return sign + text
    text = text.rjust(places + 1, "0")
    return f"{sign}{text[:-places]}.{text[-places:]}"


def is_plain(x: Exact) -> bool:
    """Return True for a finite decimal that is not infinite for solvers."""
    return _other_part(x.denominator) == 1 and -INFINITE < x < INFINITE


def factor_of(numbers: Iterable[Exact]) -> Fraction:
    """Return a positive number by which all become plain: finite decimals, none infinite."""
    known = list(numbers)
    factor = Fraction(math.lcm(*(_other_part(x.denominator) for x in known)))
    largest = max((abs(Fraction(x)) for x in known), default=Fraction(0)) * factor
    while largest >= INFINITE:
        largest, factor = largest / 10, factor / 10
    return factor


def _powers(n: int) -> tuple[int, int, int]:
    """Return how often 2 and 5 divide a positive integer, and what remains."""
    twos = (n & -n).bit_length() - 1
    n, fives = n >> twos, 0
    while n % 5 == 0:
        n, fives = n // 5, fives + 1
    return twos, fives, n


def _places(denominator: int) -> int:
    twos, fives, _ = _powers(denominator)
    return max(twos, fives)


def _other_part(denominator: int) -> int:
    return 1 if denominator == 1 else _powers(denominator)[2]
