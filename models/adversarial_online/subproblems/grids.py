"""Grids of values."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational


def geometric(levels: int, spread: int) -> list[Fraction]:
    """Return a geometric grid from 1 to `spread`, inner values as decimals of nine digits.

    Raises
    ------
    InputError
        If there is no level, or the grid would not rise.
    """
    if levels < 1 or spread < 1 or (levels > 1) != (spread > 1):
        raise InputError(
            f"levels: {levels} up to a spread of {spread}, expected several up to more than 1, "
            "or one"
        )
    inner = [float(f"{spread ** (j / (levels - 1)):.9g}") for j in range(1, levels - 1)]
    return [Fraction(1), *map(decimal_rational, inner), Fraction(spread)][:levels]
