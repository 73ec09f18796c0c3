"""From a solver's doubles to sale probabilities that hold exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gadgetopt.numbers.tolerance import NOTHING, TOLERANCE

from ..instance import AdversarialOnlinePolicyInstance

#: Doubles within `NOTHING`, to which a solver solves, of a fraction of a denominator up to this are
#: taken as it. Tuned: `benchmarks/constants.py`.
SMALL = 10_000
#: Denominator of all others, which are rounded down. Tuned: `benchmarks/constants.py`.
FINE = 10**13


def exact_share(x: float) -> Fraction:
    """Return the simple fraction near a double between 0 and 1, or the decimal below it."""
    x = min(1.0, max(0.0, x))
    simple = Fraction(x).limit_denominator(SMALL)
    return simple if abs(float(simple) - x) <= NOTHING else Fraction(int(x * FINE), FINE)


def within_capacity(
    instance: AdversarialOnlinePolicyInstance, probability: Sequence[float]
) -> tuple[Fraction, ...]:
    """Return exact sale probabilities of all histories, from doubles that are rounded.

    What sells too much by no more than `TOLERANCE`, as the rows of a solver's point may, is cut
    where the units end. More than that is kept, for the evaluator to reject.

    Parameters
    ----------
    probability : sequence of float
        Of all histories, the short ones first, in lexicographic order.

    Raises
    ------
    ValueError
        If one is further than `TOLERANCE` from any probability.
    """
    J, k = len(instance.levels), Fraction(instance.capacity_units)
    rounding = TOLERANCE * instance.capacity_units
    left = [k]  # units left after each history of the length before
    exact: list[Fraction] = []
    at = 0
    for _ in range(instance.horizon):
        after = []
        for n in range(len(left) * J):
            given, most = probability[at + n], left[n // J]
            if not -TOLERANCE <= given <= 1 + TOLERANCE:
                raise ValueError(f"sale_probability[{at + n}]: {given!r} is no probability")
            x = exact_share(given)
            if most < x <= most + rounding:
                x = most
            exact.append(x)
            after.append(most - x)
        at += len(after)
        left = after
    return tuple(exact)
