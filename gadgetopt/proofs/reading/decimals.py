"""The numbers of model files, exactly."""

from __future__ import annotations

import math
import re
from fractions import Fraction

Exact = int | Fraction

#: From here on a bound is none, for all solvers that read these files.
INFINITE = 10**20
#: Largest exponent, and most digits of a number: a few characters may stand for millions of digits.
MOST_EXPONENT, MOST_DIGITS = 400, 4000

_DECIMAL = re.compile(r"([+-]?)([0-9]*)\.?([0-9]*)(?:[eEdD]([+-]?[0-9]+))?")
_RATIO = re.compile(r"([+-]?[0-9]+)/([0-9]+)")
INFINITY = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)


def exact(text: str) -> Exact:
    """Return the number that a text stands for: a decimal, or a ratio `p/q` of integers.

    Raises
    ------
    ValueError
        If it is none, infinite, or too long.
    """
    if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS:
        return int(text)
    if ratio := _RATIO.fullmatch(text):
        return _ratio(text, *ratio.groups())
    found = _DECIMAL.fullmatch(text)
    if not found or not (found[2] or found[3]):
        raise ValueError(f"{text[:40]!r} is no number")
    sign, whole, part, exponent = found.groups()
    shift = int(exponent[:6] if exponent else 0)
    if abs(shift) > MOST_EXPONENT or len(exponent or "") > 6 or len(whole + part) > MOST_DIGITS:
        raise ValueError(f"{text[:40]!r} has too many digits or too large an exponent")
    value = int(f"{sign}{whole}{part}")
    shift -= len(part)
    power: int = 10 ** abs(shift)
    return value * power if shift >= 0 else simplest(Fraction(value, power))


def _ratio(text: str, above: str, below: str) -> Exact:
    if max(len(above), len(below)) > MOST_DIGITS or int(below) == 0:
        raise ValueError(f"{text[:40]!r} is no number")
    return simplest(Fraction(int(above), int(below)))


def finite(text: str) -> Exact:
    """Return a number that is less than infinity, as solvers mean it.

    Raises
    ------
    ValueError
        If it is not.
    """
    if INFINITY.fullmatch(text):
        raise ValueError(f"{text!r} is infinite, which only a bound may be")
    value = exact(text)
    if not -INFINITE < value < INFINITE:
        raise ValueError(f"{text[:40]!r} is infinite for solvers, which only a bound may be")
    return value


def bound(text: str) -> Exact | float:
    """Return a bound: a number, or plus or minus `math.inf` for a missing one.

    Raises
    ------
    ValueError
        If it is none.
    """
    if infinite := INFINITY.fullmatch(text):
        return -math.inf if infinite[1] == "-" else math.inf
    value = exact(text)
    if not -INFINITE < value < INFINITE:
        return math.inf if value > 0 else -math.inf
    return value


def simplest(value: Fraction) -> Exact:
    """Return a fraction, as an integer where it is one."""
    return value.numerator if value.denominator == 1 else value
