"""Certificates of optima that a search proved."""

from __future__ import annotations

import contextlib
from fractions import Fraction

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.exact import ceiling
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.pieces.knapsack.proofs.exhaustion import Option, Prices, largest_profit
from gadgetopt.pieces.knapsack.proofs.prices import most_steps, prices_of_proof
from gadgetopt.pieces.knapsack.relaxation import linear_relaxation
from gadgetopt.search.clock import Clock

from ...instance import SmdInstance
from ...subproblems.columns import Columns
from ..certificate.check import (
    FurtherPrices,
    SmdCertificate,
)
from ..certificate.exhaustion import (
    WholeUnits,
    options_above,
)

#: Relative distance of the bound to prove above the optimum, which is a sum of doubles.
#: Tuned: `benchmarks/constants.py`.
MARGIN = Fraction(1, 10**9)
#: Seconds that the check takes for a job before it goes through decisions, generously.
#: Tuned: `benchmarks/constants.py`.
SECONDS_A_JOB = 2e-3


def exhaustion_certificate(
    instance: SmdInstance, columns: Columns, duals: Floats | None, value: float, clock: Clock
) -> SmdCertificate | None:
    """Return a certificate that no decision has more than an optimum, if it is soon checked.

    Parameters
    ----------
    instance, columns
    duals : ndarray of float, shape (rows,), or None
        Of the linear relaxation of the columns, which is solved if they are not known.
    value : float
        The optimum.
    clock : Clock
        The run's: what is left of its time may be used up.
    """
    if duals is None:
        duals = linear_relaxation(columns.knapsack, clock.limits()).duals
    if duals is None or value < 0 or clock.left_s <= SECONDS_A_JOB * len(instance.jobs):
        return None
    units = WholeUnits.of(instance)
    # A unit for every job, as utilities are rounded up.
    at_most = ceiling(Fraction(value) * (1 + MARGIN) / units.utility)
    at_most += len(instance.jobs) if value else 0
    if not agrees(float(at_most * units.utility), value):
        return None  # utilities are too small a part of the largest ones
    per_resource = zip(duals.tolist(), columns.row_scale, units.row_scales, strict=True)
    main = [round(Fraction(max(0.0, y)) * a / (b * units.utility)) for y, a, b in per_resource]
    resources = units.in_resources(main, 1)
    with contextlib.suppress(ValueError):
        groups = options_above(instance, units, resources, at_most * units.utility)
        found = prices_of_proof(groups, units.capacities, Prices(1, main), at_most + 1, clock)
        if found is None or not _proves(groups, units, found, at_most, clock):
            return None
        return SmdCertificate(
            prices=resources,
            at_most=at_most * units.utility,
            further=tuple(
                FurtherPrices(jobs_left=left, prices=units.in_resources(prices, 1))
                for left, prices in found.further
            ),
        )
    return None


def _proves(
    groups: list[list[Option]], units: WholeUnits, prices: Prices, at_most: int, clock: Clock
) -> bool:
    """Return True if the check shows that no choice has more, within the time left."""
    steps = most_steps(clock)
    return largest_profit(groups, units.capacities, prices, at_most + 1, steps) is None
