"""Resource amounts as whole multiples of a unit, so that their sums are exact integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.tolerance import Number, decimal_rational

#: Amounts in units stay below this, so that sums of many of them fit 64 bits. By definition.
MOST_UNITS = 2**44


def in_units(
    resources: Sequence[str], amounts: Sequence[Sequence[float]]
) -> tuple[tuple[Fraction, ...], Ints]:
    """Return the largest common unit of each resource, and the amounts in it.

    Parameters
    ----------
    resources : sequence of str
        Names, for the message.
    amounts : sequence of sequence of float
        Rows of one amount for each resource, read as the decimals they are written as.

    Returns
    -------
    units : tuple of Fraction
        1 where all amounts are zero.
    table : array of int, shape (rows, resources)

    Raises
    ------
    ModelRefused
        If the amounts of a resource have no common unit of reasonable size.
    """
    columns = [[decimal_rational(x) for x in column] for column in zip(*amounts, strict=True)]
    units = tuple(common_unit(column) for column in columns)
    for name, unit, column in zip(resources, units, columns, strict=True):
        if max(column) / unit > MOST_UNITS:
            raise ModelRefused(f"{name}: amounts are not whole multiples of a sizeable unit")
    pairs = zip(units, columns, strict=True)
    whole = [[int(x / unit) for x in column] for unit, column in pairs]
    return units, np.array(whole, dtype=np.int64).T


def common_unit(amounts: Sequence[Fraction]) -> Fraction:
    """Return the largest number that divides all amounts exactly; 1 if all are 0.

    Examples
    --------
    >>> common_unit([Fraction(3, 4), Fraction(1, 2)])
    Fraction(1, 4)
    """
    denominator = math.lcm(*(x.denominator for x in amounts))
    numerator = math.gcd(*(int(x * denominator) for x in amounts))
    return Fraction(numerator or denominator, denominator)


def power_of_two_unit(amount: Number, bits: int) -> Fraction:
    """Return the power of two in which a positive amount is a number of `bits` binary digits.

    Tolerances of solvers are absolute, so models count in such units. The unit of 0 is 1.

    Examples
    --------
    >>> power_of_two_unit(Fraction(1, 10), 9)
    Fraction(1, 4096)
    """
    return Fraction(2) ** (math.frexp(float(amount))[1] - bits) if amount else Fraction(1)
