r"""Certificates that no policy is better: a lottery over sequences, and the best response to it.

Weights :math:`\lambda_h \ge 0` of sequences h, prices :math:`\mu_i \ge 0` of predictions
:math:`p_i`, consistency c. Let B be the most that a seller can earn from both,

.. math:: B = \max_\pi \sum_h \lambda_h ALG_\pi(h) + \sum_i \mu_i ALG_\pi(p_i).

A policy that is consistent earns
:math:`\sum_h \lambda_h ALG(h) \le E = B - c \sum_i \mu_i OPT(p_i)`, so its ratio is at least
:math:`\sum_h \lambda_h OPT(h) / E`, and its regret, if the weights sum to 1, at least
:math:`\sum_h \lambda_h OPT(h) - E`.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from gadgetopt.search.checked import checked_once

from ...subproblems.offline import largest
from ...subproblems.responses import best_response
from ..instance import (
    MOST_STEPS,
    AdversarialOnlinePolicyCertificate,
    AdversarialOnlinePolicyInstance,
)


@checked_once
def check_bound(
    instance: AdversarialOnlinePolicyInstance, certificate: AdversarialOnlinePolicyCertificate
) -> Fraction | None:
    """Return the lower bound on every policy's worst ratio or regret; None if none is proved.

    Raises
    ------
    ValueError
        If a sequence is none of the instance's, a weight is negative, or the check would take too
        long.
    """
    _check_fit(instance, certificate)
    weighted = [(s.levels, s.weight) for s in certificate.sequences]
    priced = list(zip(instance.predictions, certificate.prediction_prices, strict=False))
    total = sum((weight for _, weight in weighted), Fraction(0))
    offline = total_optimum(instance, weighted)
    earned = best_response(instance.levels, instance.capacity_units, [*weighted, *priced])
    earned -= (instance.consistency or 0) * total_optimum(instance, priced)
    if total <= 0:
        return None
    if instance.payoff == "regret":
        return (offline - earned) / total
    return offline / earned if earned > 0 else None


def total_optimum(
    instance: AdversarialOnlinePolicyInstance,
    weighted: Iterable[tuple[tuple[int, ...], Fraction]],
) -> Fraction:
    """Return the offline optimum of weighted sequences, in all."""
    k = instance.capacity_units
    return sum((w * largest(instance.values(h), k) for h, w in weighted), Fraction(0))


def _check_fit(
    instance: AdversarialOnlinePolicyInstance, certificate: AdversarialOnlinePolicyCertificate
) -> None:
    J, N = len(instance.levels), instance.horizon
    buyers = sum(len(s.levels) for s in certificate.sequences)
    if (buyers + sum(map(len, instance.predictions))) * (instance.capacity_units + 1) > MOST_STEPS:
        raise ValueError(f"sequences: {buyers} buyers, the best response would take too long")
    for i, s in enumerate(certificate.sequences):
        if len(s.levels) > N:
            raise ValueError(f"sequences[{i}].levels: {len(s.levels)} buyers, the horizon is {N}")
        if max(s.levels) >= J:
            raise ValueError(f"sequences[{i}].levels: level {max(s.levels)} of {J}")
        if s.weight < 0:
            raise ValueError(f"sequences[{i}].weight: {s.weight} is negative")
    prices = certificate.prediction_prices
    if len(prices) not in (0, len(instance.predictions)):
        raise ValueError(
            f"prediction_prices: {len(prices)} for {len(instance.predictions)} predictions"
        )
    for i, price in enumerate(prices):
        if price < 0:
            raise ValueError(f"prediction_prices[{i}]: {price} is negative")
