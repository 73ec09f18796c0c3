r"""The sequence on which keeping ALG at a share of OPT takes most units (reconstructed: ours).

The policy that sells :math:`x_t = \rho\,(OPT_t - OPT_{t-1})/v_t` keeps ALG at
:math:`\rho\,OPT` with :math:`x_t = \rho\,(1 - w_t/v_t)^+`, where :math:`w_t` is the k-th largest
value before t, 0 if there are fewer. It needs :math:`\rho W(v)` units,
:math:`W(v) = \sum_t (1 - w_t/v_t)^+`.

1. No policy of ratio :math:`1/\rho` needs less on a non-decreasing sequence: to sell later is to
   sell at a higher value. So :math:`\rho \le k / W(v)`.
2. To swap neighbours a > b of a sequence into b, a never lowers W. If fewer than k - 1 values come
   before, both take a unit either way. With w the k-th largest and m the next of those before,
   W grows by :math:`(m - w)(1/b - 1/a)` if m < b, by :math:`(1 - b/a)(1 - w/b)` if
   :math:`w < b \le m`, and by 0 else.

So W is largest on a non-decreasing sequence v, and :math:`\rho = k / W(v)` is optimal over all
policies and sequences, whatever the horizon. There :math:`w_t = v_{t-k}`: the sequence falls
into k chains, every k-th value, of :math:`\lceil N/k \rceil` or :math:`\lfloor N/k \rfloor` values,
each worth :math:`1 + \sum (1 - \text{value}/\text{next value})`. Chains that are best by themselves
interlace, since :math:`l_i / l_j` is a Monge array. With :math:`N \ge kJ` all chains hold every
level, and the ratio is :math:`\alpha^*` of (1).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from gadgetopt.errors import ModelRefused

from ..instance import (
    MOST_STEPS,
    AdversarialOnlinePolicyCertificate,
    AdversarialOnlinePolicyInstance,
    WeightedSequence,
)


def best_chain(levels: Sequence[Fraction], length: int) -> list[int]:
    """Return the levels of a chain of at most this length that is worth most.

    More levels are never worse, so the chain has as many values as it may, each level once.
    """
    J = len(levels)
    length = min(length, J)
    worth = [Fraction(1)] * J
    came: list[list[int]] = []
    for _ in range(length - 1):
        longer, origins = [], []
        for j in range(J):
            options = [(worth[i] + 1 - levels[i] / levels[j], -i) for i in range(j + 1)]
            value, origin = max(options)
            longer.append(value)
            origins.append(-origin)
        worth, came = longer, [*came, origins]
    j = max(range(J), key=lambda j: (worth[j], -j))
    chain = [j]
    for origins in reversed(came):
        j = origins[j]
        chain.append(j)
    return sorted(set(chain))


def hardest_sequence(instance: AdversarialOnlinePolicyInstance) -> list[int]:
    """Return the levels of a sequence on which keeping a share of OPT takes most units."""
    k, N = instance.capacity_units, instance.horizon
    if k >= N:
        return [0]
    long, short = divmod(N, k)[::-1]
    chains = [best_chain(instance.levels, short + 1)] * long
    chains += [best_chain(instance.levels, short)] * (k - long)
    return sorted(level for chain in chains for level in chain)


def units_needed(levels: Sequence[Fraction], k: int, sequence: Sequence[int]) -> Fraction:
    """Return W of a non-decreasing sequence of levels."""
    return sum(
        (
            1 - (levels[sequence[t - k]] / levels[j] if t >= k else Fraction(0))
            for t, j in enumerate(sequence)
        ),
        Fraction(0),
    )


def optimal_ratio(instance: AdversarialOnlinePolicyInstance) -> Fraction:
    r"""Return the least ratio of any policy, :math:`\max(1, W/k)`; predictions are left out."""
    sequence = hardest_sequence(instance)
    needed = units_needed(instance.levels, instance.capacity_units, sequence)
    return max(Fraction(1), needed / instance.capacity_units)


def stopping_weights(levels: Sequence[Fraction], sequence: Sequence[int]) -> list[Fraction]:
    """Return the weight with which the adversary stops a non-decreasing sequence after each value.

    1/value - 1/next value: then a seller earns as much from a unit whenever it is sold.
    """
    inverse = [1 / levels[j] for j in sequence] + [Fraction(0)]
    return [here - after for here, after in pairwise(inverse)]


def certificate_of_chain(
    instance: AdversarialOnlinePolicyInstance,
) -> AdversarialOnlinePolicyCertificate:
    """Return the hardest sequence with the weights of its ends.

    Raises
    ------
    ModelRefused
        If it is too long for the certificate's check.
    """
    sequence = hardest_sequence(instance)
    weights = stopping_weights(instance.levels, sequence)
    buyers = sum(t + 1 for t, weight in enumerate(weights) if weight > 0)
    if buyers * (instance.capacity_units + 1) > MOST_STEPS:
        raise ModelRefused(f"horizon: a certificate of {buyers} buyers would take long to check")
    return _with_random_end(sequence, weights)


def _with_random_end(
    levels_of: list[int], weights: list[Fraction]
) -> AdversarialOnlinePolicyCertificate:
    """Return the certificate of a single sequence that stops after each value with a weight."""
    return AdversarialOnlinePolicyCertificate(
        sequences=tuple(
            WeightedSequence(levels=tuple(levels_of[: t + 1]), weight=weight)
            for t, weight in enumerate(weights)
            if weight > 0
        )
    )
