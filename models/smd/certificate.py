r"""Certificates of bounds on the total utility: prices of the resources.

For any :math:`\lambda \ge 0` the Lagrangian bound

.. math::
    L(\lambda) = \lambda^\top C + \sum_i \max\Big(0, \max_{(w,p) \in \mathcal F_i}
        \mu_i(\tau_i(w, p)) - \lambda^\top a_{iwp}\Big), \qquad
    a_{iwp} = v_i \text{ or } O_i w + G_i p,

is no less than the optimum. The check finds the best pair of every job
(`best_gain.py`) in integers from the raw data and rounds every utility up. With all prices zero the
bound is the sum of all utilities.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gadgetopt.numbers.exact import (
    check_prices,
    common_denominator,
    dot,
    double_above,
    rationals,
)
from gadgetopt.system.data import Certificate, Rational

from .best_gain import gain_above
from .instance import SmdInstance


class SmdCertificate(Certificate):
    """Prices of the resources, per unit; not negative."""

    prices: Annotated[tuple[Rational, ...], Field(min_length=1)]


def check_bound(instance: SmdInstance, certificate: SmdCertificate) -> float:
    """Return the Lagrangian bound of the prices, rounded up, without a solver.

    Raises
    ------
    ValueError
        If the number of prices is not that of the resources, one is negative, or the bound is
        larger than any double.
    """
    prices = certificate.prices
    check_prices(prices, "prices", len(instance.capacity), "resources")
    common_denominator(prices)  # refuses those with too many digits
    total = dot(prices, rationals(instance.capacity))
    used = instance.charging == "used"
    for job in instance.jobs:
        total += gain_above(job, prices, used=used)
    return double_above(total)
