"""Utilities of worker-slots as exact fractions, rounded up, for the check of certificates."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.numbers.exact import (
    ROUNDING,
    log1p_above,
    rationals,
    sqrt_above,
)
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.utility import sigmoid_above

from ...utility import (
    Energy,
    Linear,
    Log,
    Sigmoid,
    Sqrt,
    Table,
    Utility,
)


def utilities_above(utility: Utility, iterations_each: float, count: int) -> list[Fraction]:
    """Return upper bounds on the utility of 0 to `count` worker-slots, exact or in doubles.

    Parameters
    ----------
    utility : utility
    iterations_each : float
        zeta_i, iterations of a worker in a slot.
    count : int
    """
    if isinstance(utility, Table):
        values = rationals(utility.values[: count + 1])
        return values + [values[-1]] * (count + 1 - len(values))
    each = decimal_rational(iterations_each)
    return [_above(utility, each * k) for k in range(count + 1)]


def utility_above(utility: Utility, iterations_each: float, count: int) -> Fraction:
    """Return an upper bound on the utility of `count` worker-slots, as in `utilities_above`."""
    if isinstance(utility, Table):
        return utilities_above(utility, iterations_each, count)[-1]
    return _above(utility, decimal_rational(iterations_each) * count)


def _above(utility: Sigmoid | Sqrt | Log | Linear | Energy, x: Fraction) -> Fraction:
    """Return an upper bound on the utility of x iterations."""
    if isinstance(utility, Sigmoid):
        height, steepness, middle = rationals(
            (utility.priority, utility.sensitivity, utility.target_iterations)
        )
        return sigmoid_above(height, steepness, middle, x)
    if isinstance(utility, Energy):
        gain, cost = decimal_rational(utility.gain) * x, decimal_rational(utility.cost) * x * x
        return gain * (1 + ROUNDING) - cost * (1 - ROUNDING)
    if isinstance(utility, Linear):
        return decimal_rational(utility.slope) * x * (1 + ROUNDING)
    root = sqrt_above if isinstance(utility, Sqrt) else log1p_above
    return decimal_rational(utility.scale) * root(x) * (1 + ROUNDING)
