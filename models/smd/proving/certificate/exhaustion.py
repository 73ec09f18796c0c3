r"""The jobs, and their pairs, that a decision above some utility can have, in whole numbers.

At prices :math:`\lambda \ge 0` with the Lagrangian bound :math:`L(\lambda)` a decision of utility
above B takes of every job an option, a pair or nothing, that gains no less than the job's best one
less :math:`L(\lambda) - B`. Where reservations are charged only the best pair of a job counts.
Utilities are counted in parts of a unit and rounded up, so that whoever shows that no choice of
these options has more than :math:`\lfloor B \rfloor` units has shown it for the utilities.
`gadgetopt.pieces.knapsack.proofs.exhaustion` goes through the choices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.numbers.exact import ceiling, common_denominator, dot, rationals
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.numbers.units import common_unit
from gadgetopt.pieces.knapsack.proofs.exhaustion import Option, Prices

from ...instance import (
    Job,
    SmdInstance,
)
from .best_gain import (
    gain_above,
    pairs_above,
)

#: Most pairs of all jobs that may be listed. Tuned: `benchmarks/constants.py`.
MOST_PAIRS = 200_000
#: Bits of the sum of all jobs' largest utilities. By definition.
UTILITY_BITS = 44


@dataclass(frozen=True)
class WholeUnits:
    """What utilities and resources are counted in.

    Attributes
    ----------
    utility : Fraction
        A power of two.
    row_scales : tuple of Fraction
        What every resource is multiplied by.
    capacities : tuple of int
    """

    utility: Fraction
    row_scales: tuple[Fraction, ...]
    capacities: tuple[int, ...]

    @classmethod
    def of(cls, instance: SmdInstance) -> WholeUnits:
        """Return the units of an instance."""
        total = sum((decimal_rational(job.utility.gamma1) for job in instance.jobs), Fraction(0))
        bits = total.numerator.bit_length() - total.denominator.bit_length() + 1
        scales = []
        for r in range(len(instance.capacity)):
            amounts = {x for job in instance.jobs for x in _charged(instance, job, r)}
            scales.append(1 / common_unit(rationals(amounts)))
        return cls(
            Fraction(2) ** (bits - UTILITY_BITS),
            tuple(scales),
            tuple(
                math.floor(decimal_rational(c) * s)
                for c, s in zip(instance.capacity, scales, strict=True)
            ),
        )

    def prices(
        self, main: Sequence[Fraction], further: Sequence[tuple[int, Sequence[Fraction]]] = ()
    ) -> Prices:
        """Return prices of the resources in whole numbers."""
        scales = [self.utility * s for s in self.row_scales]
        vectors = [main, *(prices for _, prices in further)]
        exact = [[y / s for y, s in zip(vector, scales, strict=True)] for vector in vectors]
        scale = common_denominator([price for vector in exact for price in vector])
        first, *others = [[int(price * scale) for price in vector] for vector in exact]
        left = [groups_left for groups_left, _ in further]
        return Prices(scale, first, tuple(zip(left, others, strict=True)))

    def in_resources(self, prices: Sequence[int], scale: int) -> tuple[Fraction, ...]:
        """Return the prices of the resources that whole numbers stand for."""
        pairs = zip(prices, self.row_scales, strict=True)
        return tuple(Fraction(price, scale) * self.utility * s for price, s in pairs)


def _charged(instance: SmdInstance, job: Job, r: int) -> tuple[float, ...]:
    if instance.charging == "reserved":
        return (job.reservation_limit[r],)
    return (job.worker_demand[r], job.ps_demand[r])


def options_above(
    instance: SmdInstance, units: WholeUnits, prices: tuple[Fraction, ...], at_most: Fraction
) -> list[list[Option]]:
    """Return the options of every job that a decision of more utility can have.

    Raises
    ------
    ValueError
        If too many pairs of a job would have to be listed.
    """
    nothing: Option = (0, (0,) * len(units.capacities))
    if instance.charging == "reserved":
        free = (Fraction(0),) * len(prices)
        found = [_reserved(job, units, gain_above(job, free, used=False)) for job in instance.jobs]
    else:
        gains = [gain_above(job, prices, used=True) for job in instance.jobs]
        spare = dot(prices, rationals(instance.capacity)) + sum(gains) - at_most
        if spare < 0:
            return []
        found, listed = [], 0
        for job, gain in zip(instance.jobs, gains, strict=True):
            pairs = pairs_above(job, prices, gain - spare, units.utility)
            found.append(_used(job, units, pairs))
            listed += len(found[-1])
            if listed > MOST_PAIRS:
                raise ValueError(f"more than {MOST_PAIRS:,} pairs of jobs gain enough")
    fitting = [[o for o in options if _fits(o, units)] for options in found]
    return [[*options, nothing] for options in fitting if options]


def _reserved(job: Job, units: WholeUnits, utility: Fraction) -> list[Option]:
    if not utility:
        return []
    limits = zip(rationals(job.reservation_limit), units.row_scales, strict=True)
    return [(ceiling(utility / units.utility), tuple(int(v * s) for v, s in limits))]


def _used(job: Job, units: WholeUnits, pairs: Sequence[tuple[int, int, int]]) -> list[Option]:
    demands = zip(rationals(job.worker_demand), rationals(job.ps_demand), strict=True)
    pairs_of_rows = zip(demands, units.row_scales, strict=True)
    rows = [(int(worker * s), int(server * s)) for (worker, server), s in pairs_of_rows]
    return [(utility, tuple(a * w + b * p for a, b in rows)) for w, p, utility in pairs]


def _fits(option: Option, units: WholeUnits) -> bool:
    return all(a <= c for a, c in zip(option[1], units.capacities, strict=True))
