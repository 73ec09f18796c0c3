"""Certificates of optima that a search proved."""

from __future__ import annotations

import contextlib
from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.knapsack.integral import integral
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.pieces.knapsack.proofs.exhaustion import Prices
from gadgetopt.pieces.knapsack.proofs.prices import most_steps, prices_of_proof
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import MethodOutcome

from ...instance import KnapsackInstance
from ...multipliers import FurtherMultipliers, KnapsackCertificate
from ...scaling import ScaledKnapsack
from ..certificate import exhaustion_bound, options


def add_exhaustion(
    instance: KnapsackInstance,
    whole: ScaledKnapsack,
    found: CoreResult,
    outcome: MethodOutcome,
    clock: Clock,
) -> None:
    """Give an optimal outcome without a certificate that of `exhaustion`, if it is soon checked.

    Parameters
    ----------
    instance, whole
    found : CoreResult
        What the search found.
    outcome : MethodOutcome
        What was made of it; changed.
    clock : Clock
        The run's: what is left of its time may be used up.
    """
    if outcome.certificate is not None or found.duals is None or found.chosen is None:
        return
    optimum = whole.profit(found.value)
    if found.bound != found.value:
        return
    # Ctrl-C ends the proof; what the search found stands.
    given_up = (ModelRefused, ValueError, KeyboardInterrupt)
    with clock.phase("proof"), contextlib.suppress(*given_up):
        certificate = _certificate(instance, whole, found, clock)
        if certificate is None:
            return
        if exhaustion_bound(instance, certificate, most_steps(clock)) == optimum:
            outcome.certificate, outcome.dual_bound = certificate, None


def _certificate(
    instance: KnapsackInstance, whole: ScaledKnapsack, found: CoreResult, clock: Clock
) -> KnapsackCertificate | None:
    """Return multipliers at which no better choice is left, if they are soon found."""
    assert found.duals is not None
    numbers = integral(whole.knapsack, found.duals)
    main = [int(price) for price in numbers.prices(found.duals)]
    value = round(found.value)
    prices = prices_of_proof(
        options(instance),
        instance.whole.capacities,
        Prices(int(numbers.scale), main),
        value + 1,
        clock,
    )
    if prices is None:
        return None
    first, *others = (
        whole.multipliers([Fraction(price, prices.scale) for price in vector])
        for vector in prices.all
    )
    further = zip(prices.further, others, strict=True)
    return KnapsackCertificate(
        multipliers=first,
        bound="exhaustion",
        at_most=whole.profit(value),
        further=tuple(
            FurtherMultipliers(groups_left=left, multipliers=multipliers)
            for (left, _), multipliers in further
        ),
    )
