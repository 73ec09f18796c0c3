"""Rational certificates from duals of the cut LP: the best of several roundings.

See `subproblems.price_certificates` for how duals are rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Bools

from ...instance import CutFamily, ForestPackingCertificate, ForestPackingInstance, Stage
from ...subproblems.arc_loads.cut_lp import Multipliers
from ...subproblems.price_certificates import roundings
from ..certificate.check import check_bound


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
