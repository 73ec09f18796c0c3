"""Plays as the outcome of a method, with the certificate that the closing prices are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.system.result import MethodOutcome

from ...subproblems.curves import exponential_ratio
from ..certificate import AdversarialOnlineRunCertificate, price_bound
from ..instance import AdversarialOnlineRunInstance, AdversarialOnlineRunSolution, Play
from .one_draw import Expected, Reach
from .selling import Sold, Tables, sell

#: Requests times draws that are replayed.
MOST_REPLAYED = 2 * 10**8

#: Money in an area under the price curve: the area between two utilisations, in parts.
Area = Callable[[int, int], Fraction]


def outcome_of_tables(instance: AdversarialOnlineRunInstance, tables: Tables) -> MethodOutcome:
    """Return what prices of every unit sell, and what they prove at the end of the run."""
    sold = sell(instance, tables)
    play = Play(accepted=tuple(sold.accepted), payment=tuple(sold.payment))
    return MethodOutcome(
        solution=AdversarialOnlineRunSolution(plays=(play,)),
        certificate=closing_certificate(instance, closing_prices(instance, tables, sold)),
    )


def outcome_of_draws(
    instance: AdversarialOnlineRunInstance, draws: Sequence[tuple[Fraction, Tables]]
) -> MethodOutcome:
    """Return what tables drawn once sell, replayed one after the other.

    Raises
    ------
    ModelRefused
        If there are too many.
    """
    plays, closing = [], []
    for probability, tables in draws:
        sold = sell(instance, tables)
        closing.append(closing_prices(instance, tables, sold))
        plays.append(
            Play(
                accepted=tuple(sold.accepted),
                payment=tuple(sold.payment),
                probability=probability,
            )
        )
    best = min(closing, key=lambda prices: price_bound(instance, prices))
    return MethodOutcome(
        solution=AdversarialOnlineRunSolution(plays=tuple(plays)),
        certificate=closing_certificate(instance, best),
    )


def outcome_of_expected(
    instance: AdversarialOnlineRunInstance, expected: Expected, parts: int, area: Area
) -> MethodOutcome:
    """Return the expected sales of one draw, of units of one resource.

    Parameters
    ----------
    instance : AdversarialOnlineRunInstance
    expected : Expected
    parts : int
        Of the spans of utilisation that make up a share of 1: `share` is a span over it.
    area : callable
        Money under the price curve between two utilisations, divided by `parts` the payment.
    """
    whole, scale = instance.whole_values
    payment = [
        min(area(*span) / parts, x * Fraction(int(whole[t]), scale))
        for t, x, span in zip(expected.accepted, expected.share, expected.span, strict=True)
    ]
    play = Play(
        accepted=tuple(expected.accepted), share=tuple(expected.share), payment=tuple(payment)
    )
    kth = min(instance.capacity[0], len(whole))
    dearest = np.partition(whole, len(whole) - kth)[len(whole) - kth]
    price = Fraction(int(dearest), scale) if kth == instance.capacity[0] else Fraction(0)
    return MethodOutcome(
        solution=AdversarialOnlineRunSolution(plays=(play,)),
        certificate=AdversarialOnlineRunCertificate.of([price]),
    )


def exponential_area(instance: AdversarialOnlineRunInstance, reach: Reach) -> Area:
    r"""Return the area under the exponential price: :math:`\varphi(y)/\alpha` from 0 to y."""
    alpha = exponential_ratio(instance.spread)
    low, everything = instance.value_min, instance.capacity[0] * reach.parts

    def below(y: float) -> float:
        return y if alpha * y <= 1 else math.exp(alpha * y - 1) / alpha

    def area(start: int, end: int) -> Fraction:
        share = below(end / everything) - below(start / everything)
        return low * Fraction(max(0.0, share)) * everything

    return area


def grid_area(levels: Sequence[Fraction], limits: Sequence[Fraction], everything: int) -> Area:
    """Return the area under the price of a grid: the lowest level whose limit is not reached."""
    ends = [int(limit * everything) for limit in limits]

    def area(start: int, end: int) -> Fraction:
        total, before = Fraction(0), 0
        for level, limit in zip(levels, ends, strict=True):
            total += level * max(0, min(end, limit) - max(start, before))
            before = limit
        return total

    return area


def closing_prices(
    instance: AdversarialOnlineRunInstance, tables: Tables, sold: Sold
) -> list[Fraction]:
    """Return the price that each resource has at the end; U where all is sold."""
    return [
        table[used] if used < capacity else instance.value_max
        for table, used, capacity in zip(tables, sold.used, instance.capacity, strict=True)
    ]


def closing_certificate(
    instance: AdversarialOnlineRunInstance, prices: Sequence[Fraction]
) -> AdversarialOnlineRunCertificate:
    """Return the better proof of prices and of no prices, the sum of all values."""
    free = [Fraction(0)] * len(prices)
    best = min((list(prices), free), key=lambda given: price_bound(instance, given))
    return AdversarialOnlineRunCertificate.of(best)


def check_replayed(instance: AdversarialOnlineRunInstance, draws: int) -> None:
    """Raise an error if so many draws would take too long.

    Raises
    ------
    ModelRefused
    """
    if draws * len(instance.value) > MOST_REPLAYED:
        raise ModelRefused(
            f"{draws} draws of {len(instance.value)} requests, expected at most "
            f"{MOST_REPLAYED} replayed requests"
        )
