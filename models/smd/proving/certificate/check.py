r"""Certificates of bounds on the total utility: prices of the resources.

For any :math:`\lambda \ge 0` the Lagrangian bound

.. math::
    L(\lambda) = \lambda^\top C + \sum_i \max\Big(0, \max_{(w,p) \in \mathcal F_i}
        \mu_i(\tau_i(w, p)) - \lambda^\top a_{iwp}\Big), \qquad
    a_{iwp} = v_i \text{ or } O_i w + G_i p,

is no less than the optimum. The check finds the best pair of every job
(`best_gain.py`) in integers from the raw data and rounds every utility up. With all prices zero the
bound is the sum of all utilities.

A certificate may also state a bound B below :math:`L(\lambda)`. Then the check goes through all
decisions that lose no more than :math:`L(\lambda) - B` at these prices (`exhaustion.py`), and
returns B, rounded down to a unit of utility, if none fits, and the utility of the best of them
otherwise.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticKnownError

from gadgetopt.numbers.exact import check_prices, common_denominator, dot, double_above, rationals
from gadgetopt.pieces.knapsack.proofs.exhaustion import largest_profit
from gadgetopt.search.checked import checked_once
from gadgetopt.system.data import Certificate, Data, PositiveInt, Rational

from ...instance import SmdInstance
from .best_gain import gain_above
from .exhaustion import (
    WholeUnits,
    options_above,
)


def _not_negative(value: Fraction) -> Fraction:
    if value < 0:
        raise PydanticKnownError("greater_than_equal", {"ge": 0})
    return value


class FurtherPrices(Data):
    """Prices that also bound the partial decisions with few jobs left to decide.

    Attributes
    ----------
    jobs_left : int
        They count from so many undecided jobs on, until those of a smaller number take over.
    prices : tuple of Fraction
        Of the resources, per unit; not negative.
    """

    jobs_left: PositiveInt
    prices: tuple[Rational, ...]


class SmdCertificate(Certificate):
    """Prices of the resources, and perhaps a bound above which they leave no decision.

    Attributes
    ----------
    prices : tuple of Fraction
        Per unit; not negative.
    at_most : Fraction or None
        The bound; without it the Lagrangian bound is meant.
    further : tuple of FurtherPrices
        Only with `at_most`.
    """

    prices: Annotated[tuple[Rational, ...], Field(min_length=1)]
    at_most: Annotated[Rational, AfterValidator(_not_negative)] | None = None
    further: Annotated[tuple[FurtherPrices, ...], Field(max_length=1000)] = ()

    @model_validator(mode="after")
    def _further_with_at_most(self) -> Self:
        if self.further and self.at_most is None:
            raise ValueError("further: is only for a bound `at_most`")
        return self


@checked_once
def check_bound(instance: SmdInstance, certificate: SmdCertificate) -> float:
    """Return the bound of the prices, rounded up, without a solver.

    Raises
    ------
    ValueError
        If the number of prices is not that of the resources, one is negative, the bound is
        larger than any double, or the check would take too long.
    """
    prices = certificate.prices
    check_prices(prices, "prices", len(instance.capacity), "resources")
    common_denominator(prices)  # refuses those with too many digits
    if certificate.at_most is not None:
        return double_above(_exhaustion_bound(instance, certificate, certificate.at_most))
    total = dot(prices, rationals(instance.capacity))
    used = instance.charging == "used"
    for job in instance.jobs:
        total += gain_above(job, prices, used=used)
    return double_above(total)


def _exhaustion_bound(
    instance: SmdInstance, certificate: SmdCertificate, at_most: Fraction
) -> Fraction:
    """Return `at_most` in whole units, or the utility of the best decision that has more."""
    resources = len(instance.capacity)
    for k, more in enumerate(certificate.further):
        check_prices(more.prices, f"further[{k}].prices", resources, "resources")
    further = [(more.jobs_left, more.prices) for more in certificate.further]
    units = WholeUnits.of(instance)
    most = at_most // units.utility
    try:
        prices = units.prices(certificate.prices, further)
        groups = options_above(instance, units, certificate.prices, most * units.utility)
        best = largest_profit(groups, units.capacities, prices, most + 1)
    except ValueError as error:
        raise ValueError(f"exhaustion: {error}") from None
    return units.utility * (most if best is None else best)
