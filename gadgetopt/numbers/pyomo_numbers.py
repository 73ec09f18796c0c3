"""Fractions as coefficients of Pyomo models.

What is exact in the data reaches Pyomo as it is: an integer, or a `fractions.Fraction`. Pyomo keeps
fractions in its expressions, and `gadgetopt.solvers.compiler` reads them; solvers that get a model
from Pyomo itself get doubles (`gadgetopt.solvers.through_pyomo.doubles`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number, decimal_rational


def know_fractions() -> None:
    """Tell Pyomo that fractions are numbers, where it is imported; else it warns of the first."""
    if "pyomo" in sys.modules:
        from pyomo.common.numeric_types import RegisterNumericType, native_numeric_types

        if Fraction not in native_numeric_types:
            RegisterNumericType(Fraction)


def coefficient(x: Number) -> int | Fraction:
    """Return the number that the decimals of an instance denote, as an integer where it is one.

    Examples
    --------
    >>> coefficient(0.1), coefficient(3.0)
    (Fraction(1, 10), 3)
    """
    exact = decimal_rational(x)
    return exact.numerator if exact.denominator == 1 else exact


def coefficients(numbers: Iterable[Number]) -> list[int | Fraction]:
    """Return the numbers that the decimals of an instance denote."""
    return [coefficient(x) for x in numbers]
