"""From a solver's doubles to a seller that holds exactly."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.numbers.tolerance import NOTHING, TOLERANCE

#: Doubles within `NOTHING`, to which a solver solves, of a fraction of a denominator up to this are
#: taken as it. Tuned: `benchmarks/constants.py`.
SMALL = 10_000
#: Denominator of all others, which are rounded down. Tuned: `benchmarks/constants.py`.
FINE = 10**13


def near(x: float) -> Fraction:
    """Return the simple fraction near a double that is not negative, or the decimal below it."""
    simple = Fraction(x).limit_denominator(SMALL)
    return simple if abs(float(simple) - x) <= NOTHING else Fraction(int(x * FINE), FINE)


def exact_chance(x: float, most: Fraction) -> Fraction:
    """Return the fraction near a probability, at most `most`.

    What is too much by no more than `TOLERANCE`, as the rows of a solver's point may be, is cut.

    Raises
    ------
    ValueError
        If it is too much by more.
    """
    if not -TOLERANCE <= x <= float(most) + TOLERANCE:
        raise ValueError(f"sale_probability: {x!r}, expected from 0 to {float(most)}")
    return min(most, near(max(0.0, x)))
