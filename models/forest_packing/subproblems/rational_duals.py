"""Rational certificates from floating-point duals: the best of several roundings.

An optimal dual vertex of a network with small integer capacities consists of simple fractions, once
it is scaled so that its largest multiplier is 1. The right rounding then proves the optimum itself;
any rounding proves a bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats

from ..certificate import (
    CutFamily,
    ForestPackingCertificate,
    Prices,
    check_bound,
)
from ..instance import ForestPackingInstance, Stage
from .cut_lp import Multipliers

#: Largest denominators of the roundings.
DENOMINATORS = (1, 2, 6, 12, 60, 360, 2_000, 100_000, 10_000_000)
#: Duals below this part of the largest one are rounding errors of 0.
NEGLIGIBLE = 1e-9


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


def cut_certificate(
    instance: ForestPackingInstance, multipliers: Multipliers
) -> ForestPackingCertificate | None:
    """Return the certificate of the best rounding of the cut LP's duals, None if none proves."""
    stages: tuple[Stage, ...] = tuple(multipliers.prices)
    prices = [] if instance.network.only_arc_rows else [multipliers.prices[s] for s in stages]
    if not instance.sequential:
        prices = prices[:1]
    duals = np.concatenate(
        (
            [z for _, _, z in multipliers.cuts],
            [value for _, _, value in multipliers.potentials],
            *prices,
        )
    )

    def written(read: list[Fraction]) -> ForestPackingCertificate:
        value = iter(read)
        cuts = [(stage, q, max(next(value), Fraction(0))) for stage, q, _ in multipliers.cuts]
        potentials = [(stage, s, next(value)) for stage, s, _ in multipliers.potentials]
        given = [[max(next(value), Fraction(0)) for _ in prices_of] for prices_of in prices]
        by_stage = dict(zip(stages, given if instance.sequential else given * 2, strict=False))
        return cuts_written(instance, cuts, potentials, by_stage)

    return best_certificate(instance, (written(read) for read in roundings(duals)))


def cuts_written(
    instance: ForestPackingInstance,
    cuts: Iterable[tuple[Stage, Bools, Fraction]],
    potentials: Iterable[tuple[Stage, int, Fraction]],
    prices: Mapping[Stage, Sequence[Fraction]],
) -> ForestPackingCertificate:
    """Return the certificate of rational multipliers of cuts, potentials of switches and prices.

    Prices of the rows are left out if each of these is of a single arc, whose price follows.
    """
    labels, rows = instance.network.labels, instance.network.rows
    named = {
        stage: {row.name: y for row, y in zip(rows, given, strict=True) if y}
        for stage, given in prices.items()
        if not instance.network.only_arc_rows
    }
    return ForestPackingCertificate(
        proof=CutFamily(
            cuts=tuple(
                CutFamily.Cut(
                    stage=stage, nodes=tuple(labels[v] for v in np.flatnonzero(q)), multiplier=z
                )
                for stage, q, z in cuts
                if z
            ),
            potentials=tuple(
                CutFamily.Potential(stage=stage, switch=labels[s], value=value)
                for stage, s, value in potentials
                if value
            ),
            prices=named.get("broadcast", next(iter(named.values()), None)),
            reduce_prices=named.get("reduce") if instance.sequential else None,
        )
    )


def price_certificate(
    instance: ForestPackingInstance, prices: Mapping[Stage, Floats], *, optimal: bool = True
) -> ForestPackingCertificate | None:
    """Return the certificate of the best rounding of prices of the rows, shape (rows,) a stage.

    Stages that do not take turns have one price. Prices that are not `optimal` are not simple
    fractions: only the finest rounding is tried.
    """
    together = next(iter(prices.values()))
    separate = [*prices.values()] if instance.sequential else [together]

    def written(read: list[Fraction]) -> ForestPackingCertificate:
        value = iter(read)
        given = [[next(value) for _ in prices_of] for prices_of in separate]
        by_stage = dict(zip(prices, given if instance.sequential else given * 2, strict=False))
        return prices_written(instance, by_stage)

    denominators = DENOMINATORS if optimal else DENOMINATORS[-1:]
    found = (written(read) for read in roundings(np.concatenate(separate), denominators))
    return best_certificate(instance, found)


def prices_written(
    instance: ForestPackingInstance, prices: Mapping[Stage, Sequence[Fraction]]
) -> ForestPackingCertificate:
    """Return the certificate of rational prices of the rows in each stage."""
    rows = instance.network.rows
    named = {
        stage: {row.name: y for row, y in zip(rows, given, strict=True) if y > 0}
        for stage, given in prices.items()
    }
    return ForestPackingCertificate(
        proof=Prices(reduce=named.get("reduce", {}), broadcast=named.get("broadcast", {}))
    )


def singletons_certificate(instance: ForestPackingInstance) -> ForestPackingCertificate:
    """Return the certificate of single workers: all the data enters and leaves each of them."""
    return ForestPackingCertificate(
        proof=CutFamily(
            cuts=tuple(
                CutFamily.Cut(stage=stage, nodes=(v,), multiplier=Fraction(1))
                for stage in instance.stages
                for v in instance.workers
            )
        )
    )


def best_certificate(
    instance: ForestPackingInstance, certificates: Iterable[ForestPackingCertificate]
) -> ForestPackingCertificate | None:
    """Return the certificate with the lowest bound, the first of equals; None if none proves."""
    best, lowest = None, None
    for certificate in certificates:
        bound = check_bound(instance, certificate)
        if bound is not None and (lowest is None or bound < lowest):
            best, lowest = certificate, bound
    return best
