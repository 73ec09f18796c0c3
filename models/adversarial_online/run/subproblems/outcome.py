"""Plays as the outcome of a method, with the certificate that the closing prices are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.system.result import MethodOutcome

from ...subproblems.curves import exponential_ratio
from ..instance import (
    AdversarialOnlineRunCertificate,
    AdversarialOnlineRunInstance,
    AdversarialOnlineRunSolution,
    Play,
)
from .one_draw import Expected, Reach
from .price_bound import price_bound
from .selling import Sold, Tables, sell

#: Requests times draws that are replayed. Tuned: `benchmarks/constants.py`.
MOST_REPLAYED = 2 * 10**8

#: Parts of L to which areas under the exponential price are rounded down. By definition.
_FINE_MONEY = 2**20


@dataclass(frozen=True)
class Area:
    """Money under a price curve between two utilisations, in parts, over a denominator."""

    of: Callable[[int, int], int]
    denominator: int


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
    area : Area
        Money under the price curve, divided by `parts` the payment.
    """
    whole, scale = instance.whole_values
    payment = []
    for t, x, span in zip(expected.accepted, expected.share, expected.span, strict=True):
        money, worth = area.of(*span), x.numerator * int(whole[t])
        # Compared as integers, which takes a tenth of the time of rationals.
        if money * x.denominator * scale > worth * area.denominator * parts:
            payment.append(Fraction(worth, x.denominator * scale))
        else:
            payment.append(Fraction(money, area.denominator * parts))
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

    def area(start: int, end: int) -> int:
        share = below(end / everything) - below(start / everything)
        return math.floor(max(0.0, share) * everything * _FINE_MONEY) * low.numerator

    return Area(area, _FINE_MONEY * low.denominator)


def grid_area(levels: Sequence[Fraction], limits: Sequence[Fraction], everything: int) -> Area:
    """Return the area under the price of a grid: the lowest level whose limit is not reached."""
    denominator = common_denominator(levels)
    prices = [int(level * denominator) for level in levels]
    ends = [int(limit * everything) for limit in limits]

    def area(start: int, end: int) -> int:
        total, before = 0, 0
        for price, limit in zip(prices, ends, strict=True):
            if start < limit and end > before:
                total += price * (min(end, limit) - max(start, before))
            before = limit
        return total

    return Area(area, denominator)


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
