"""Rational certificates from floating-point prices of the rows: the best of several roundings.

An optimal dual vertex of a network with small integer capacities consists of simple fractions, once
it is scaled so that its largest multiplier is 1. The right rounding then proves the optimum itself;
any rounding proves a bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gadgetopt.numbers.arrays import Floats

from ..instance import ForestPackingCertificate, ForestPackingInstance, Prices, Stage
from .price_bound import prices_bound

#: Largest denominators of the roundings. Tuned: `benchmarks/constants.py`.
DENOMINATORS = (1, 2, 6, 12, 60, 360, 2_000, 100_000, 10_000_000)
#: Duals below this part of the largest one are rounding errors of 0.
#: Tuned: `benchmarks/constants.py`.
NEGLIGIBLE = 1e-9


class ProvedPrices(NamedTuple):
    """Rational prices of the rows, and the bound on the rate that they prove, GB/s."""

    prices: Prices
    bound: Fraction

    @property
    def certificate(self) -> ForestPackingCertificate:
        """The certificate that holds the prices."""
        return ForestPackingCertificate(proof=self.prices)


def roundings(
    duals: Floats, denominators: Sequence[int] = DENOMINATORS
) -> Iterator[list[Fraction]]:
    """Return distinct readings of duals as rationals, scaled to a largest absolute value of 1."""
    largest = float(np.abs(duals).max(initial=0.0))
    if largest == 0:
        return
    scaled = np.where(np.abs(duals) > NEGLIGIBLE * largest, duals / largest, 0.0)
    # There are few distinct values.
    distinct, position = np.unique(np.round(scaled, 12), return_inverse=True)
    last = None
    for denominator in denominators:
        read = [Fraction(x).limit_denominator(denominator) for x in distinct.tolist()]
        if read != last:
            yield [read[i] for i in position]
        last = read


def rounded_prices(
    instance: ForestPackingInstance, prices: Mapping[Stage, Floats], *, optimal: bool = True
) -> ProvedPrices | None:
    """Return the best rounding of prices of the rows, shape (rows,) a stage; None if none proves.

    Stages that do not take turns have one price. Prices that are not `optimal` are not simple
    fractions: only the finest rounding is tried.
    """
    together = next(iter(prices.values()))
    separate = [*prices.values()] if instance.sequential else [together]

    def written(read: list[Fraction]) -> Prices:
        value = iter(read)
        given = [[next(value) for _ in prices_of] for prices_of in separate]
        by_stage = dict(zip(prices, given if instance.sequential else given * 2, strict=False))
        return prices_written(instance, by_stage)

    denominators = DENOMINATORS if optimal else DENOMINATORS[-1:]
    found = (written(read) for read in roundings(np.concatenate(separate), denominators))
    return best_prices(instance, found)


def prices_written(
    instance: ForestPackingInstance, prices: Mapping[Stage, Sequence[Fraction]]
) -> Prices:
    """Return rational prices of the rows in each stage by the names of the rows."""
    rows = instance.network.rows
    named = {
        stage: {row.name: y for row, y in zip(rows, given, strict=True) if y > 0}
        for stage, given in prices.items()
    }
    return Prices(reduce=named.get("reduce", {}), broadcast=named.get("broadcast", {}))


def best_prices(instance: ForestPackingInstance, readings: Iterable[Prices]) -> ProvedPrices | None:
    """Return the prices of the lowest bound, the first of equals; None if none prove any."""
    best = None
    for prices in readings:
        bound = prices_bound(instance, prices)
        if bound is not None and (best is None or bound < best.bound):
            best = ProvedPrices(prices, bound)
    return best
