"""What posted prices sell to a sequence: exact, for one draw of the prices and in expectation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .prices import Lottery


@dataclass(frozen=True)
class Sales:
    """What was sold.

    Attributes
    ----------
    accepted : tuple of int
        Positions in the sequence.
    welfare, revenue : Fraction
        Values accepted, and prices paid.
    """

    accepted: tuple[int, ...]
    welfare: Fraction
    revenue: Fraction


def replay(
    prices: Sequence[Sequence[Fraction]],
    values: Sequence[Fraction],
    demands: Sequence[Sequence[int]],
) -> Sales:
    """Return what these prices sell to requests in their order.

    Parameters
    ----------
    prices : sequence of sequence of Fraction, shape (resources, capacity of each)
    values : sequence of Fraction, shape (requests,)
    demands : sequence of sequence of int, shape (requests, resources)
    """
    used = [0] * len(prices)
    accepted: list[int] = []
    welfare = revenue = Fraction(0)
    for t, (value, demand) in enumerate(zip(values, demands, strict=True)):
        if any(u + d > len(table) for u, d, table in zip(used, demand, prices, strict=True)):
            continue
        price = sum(
            (d * table[u] for u, d, table in zip(used, demand, prices, strict=True) if d),
            Fraction(0),
        )
        if value >= price:
            accepted.append(t)
            welfare += value
            revenue += price
            used = [u + d for u, d in zip(used, demand, strict=True)]
    return Sales(tuple(accepted), welfare, revenue)


def expected_welfare(
    lottery: Lottery, values: Sequence[Fraction], demands: Sequence[Sequence[int]]
) -> Fraction:
    """Return the expected welfare of prices drawn once, over all draws."""
    return sum(
        (posted.probability * replay(posted.prices, values, demands).welfare for posted in lottery),
        Fraction(0),
    )
