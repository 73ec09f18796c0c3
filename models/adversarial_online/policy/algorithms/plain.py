r"""The share policy (1), step by step, as a lottery over posted prices.

Standard theory, (reconstructed). Letters, as in the paper: levels l_1 < ... < l_J, k units; a share
1/alpha* of them is for all levels, (1 - l_{j-1}/l_j)/alpha* additionally for level j and above; xi
is a seed, drawn once. The paper's networks are trained, not computed: `training` has them.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from ..instance import AdversarialOnlinePolicyInstance

#: The probability of a table, and the price of each unit.
Lottery = list[tuple[Fraction, tuple[Fraction, ...]]]


def share_policy(instance: AdversarialOnlinePolicyInstance) -> Lottery:
    """Return the tables phi_u = phi((u + xi)/k) that one seed xi in [0, 1) decides among."""
    l, k = instance.levels, instance.capacity_units  # noqa: E741
    w = limits(l)
    # A table changes only where some unit passes a limit: where xi is the fraction of k w_j.
    breaks = sorted({Fraction(0), Fraction(1), *(k * w_j % 1 for w_j in w)})
    lottery: Lottery = []
    for start, end in pairwise(breaks):
        xi = (start + end) / 2
        phi = tuple(price(l, w, (u + xi) / k) for u in range(k))
        lottery.append((end - start, phi))
    return lottery


def limits(l: tuple[Fraction, ...]) -> list[Fraction]:  # noqa: E741
    """Return w_j: the share of the units that a buyer of level j may reach, the sum of (1)."""
    shares = [Fraction(1), *(1 - l[j - 1] / l[j] for j in range(1, len(l)))]
    alpha = sum(shares, Fraction(0))
    return [sum(shares[: j + 1], Fraction(0)) / alpha for j in range(len(l))]


def price(l: tuple[Fraction, ...], w: list[Fraction], y: Fraction) -> Fraction:  # noqa: E741
    """Return phi(y): the lowest level that may reach utilisation y."""
    j = 0
    while w[j] < y:
        j += 1
    return l[j]
