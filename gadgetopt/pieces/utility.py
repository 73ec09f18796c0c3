"""Sigmoid utility of a completion time."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.special import expit

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.exact import ROUNDING, exp_ratio_below
from gadgetopt.system.data import Data, PositiveFloat

#: A sigmoid below this part of its height counts as 0. A part, so that the unit of utilities does
#: not matter. By definition.
NEGLIGIBLE = 1e-9

#: The same, and one with the rounding of doubles, as quotients of whole numbers.
_LEAST, _UP = NEGLIGIBLE.as_integer_ratio(), (1 + ROUNDING).as_integer_ratio()


def sigmoid(height: float, steepness: float, middle: float, x: Floats) -> Floats:
    r"""Return :math:`h / (1 + e^{-s (x - m)})` of every x, without overflow.

    Values below `NEGLIGIBLE` of h are 0.

    Parameters
    ----------
    height : float
        h, the limit.
    steepness : float
        s; negative where the utility falls.
    middle : float
        m, where half of the height is reached.
    x : array
    """
    part = expit(steepness * (x - middle))
    return np.where(part < NEGLIGIBLE, 0.0, height * part)


def log_sigmoid(height: float, steepness: float, middle: float, x: float) -> float:
    """Return the natural logarithm of `sigmoid`, however small it is."""
    return float(np.log(height) - np.logaddexp(0.0, -steepness * (x - middle)))


def sigmoid_above(height: Fraction, steepness: Fraction, a: Fraction, b: Fraction) -> Fraction:
    r"""Return an upper bound on :math:`h / (1 + e^{s (a - b)})`, exact or computed in doubles.

    Negligible values are 0, as in evaluators.

    Parameters
    ----------
    height, steepness, a, b : Fraction
        Not negative.
    """
    exponent = steepness * (a * (1 - ROUNDING) - b * (1 + ROUNDING))
    return height * Fraction(*part_above(*exponent.as_integer_ratio()))


def part_above(numerator: int, denominator: int) -> tuple[int, int]:
    r"""Return an upper bound on :math:`1 / (1 + e^x)` of a quotient x, as a quotient.

    It bounds the value that evaluators compute in doubles; negligible ones are 0.
    """
    exp, whole = exp_ratio_below(numerator, denominator)
    part, of = _UP[0] * whole, _UP[1] * (whole + exp)
    return (0, 1) if part * _LEAST[1] < _LEAST[0] * of else (part, of)


class SigmoidUtility(Data):
    r"""Utility that falls with time: :math:`\gamma_1 / (1 + e^{\gamma_2 (t/unit - \gamma_3)})`.

    Attributes
    ----------
    gamma1 : float
        Utility of completing at once, approximately.
    gamma2 : float
        Steepness, per time unit.
    gamma3 : float
        Time, in units, at which half of gamma1 is left.
    time_unit_s : float
        The unit in which gamma2 and gamma3 read time.
    """

    gamma1: PositiveFloat
    gamma2: PositiveFloat
    gamma3: PositiveFloat
    time_unit_s: PositiveFloat = 1.0

    def at(self, time_s: float) -> float:
        """Return the utility of a completion time; 0 where it is negligible."""
        return float(self.over(np.array([time_s]))[0])

    def over(self, time_s: Floats) -> Floats:
        """Return the utility of each completion time; 0 where it is negligible."""
        with np.errstate(over="ignore"):  # a time beyond all doubles has no utility
            return sigmoid(self.gamma1, -self.gamma2, self.gamma3, time_s / self.time_unit_s)

    def log_at(self, time_s: float) -> float:
        """Return the natural logarithm of the utility, however small it is."""
        return log_sigmoid(self.gamma1, -self.gamma2, self.gamma3, time_s / self.time_unit_s)
