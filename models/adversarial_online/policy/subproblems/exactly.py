"""From a solver's doubles to sale probabilities that hold exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..instance import AdversarialOnlinePolicyInstance

#: Probabilities within this of a fraction with a small denominator are taken as it.
NEAR = 1e-9
SMALL = 10_000
#: Denominator of all others, which are rounded down.
FINE = 10**13


def exact_share(x: float) -> Fraction:
    """Return the simple fraction near a double between 0 and 1, or the decimal below it."""
    x = min(1.0, max(0.0, x))
    simple = Fraction(x).limit_denominator(SMALL)
    return simple if abs(float(simple) - x) <= NEAR else Fraction(int(x * FINE), FINE)


def within_capacity(
    instance: AdversarialOnlinePolicyInstance, probability: Sequence[float]
) -> tuple[Fraction, ...]:
    """Return exact sale probabilities of all histories, cut where the units end.

    Parameters
    ----------
    probability : sequence of float
        Of all histories, the short ones first, in lexicographic order.
    """
    J, k = len(instance.levels), Fraction(instance.capacity_units)
    left = [k]  # units left after each history of the length before
    exact: list[Fraction] = []
    at = 0
    for _ in range(instance.horizon):
        after = []
        for n in range(len(left) * J):
            x = min(exact_share(probability[at + n]), left[n // J])
            exact.append(x)
            after.append(left[n // J] - x)
        at += len(after)
        left = after
    return tuple(exact)
