r"""Certificates of upper bounds on the offline welfare, and their check in exact numbers.

* `ResourcePrices`: the dual of the linear relaxation of (P). Any prices :math:`\lambda \ge 0` prove

  .. math:: OPT \le \sum_r C_r \lambda_r + \sum_j \Big(v_j - \sum_r d_{jr} \lambda_r\Big)^+ .

  The prices that a policy posts at the end of its run are such a proof, without a solver.
* `NearPrices`: prices, and a welfare than which the dynamic program over requests of small gain at
  these prices finds nothing better; the check repeats it (`core`).
* `Recursion`: the dynamic program over the units used, which the check repeats (`recursion`).
"""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.numbers.exact import check_prices

from ...instance import (
    AdversarialOnlineRunCertificate,
    AdversarialOnlineRunInstance,
    NearPrices,
    Recursion,
)
from .core import Core, CoreTooLarge
from .recursion import best_welfare
from .resource_prices import bound_of_prices


def check_bound(
    instance: AdversarialOnlineRunInstance, certificate: AdversarialOnlineRunCertificate
) -> Fraction:
    """Return the upper bound on the welfare that a certificate proves.

    Raises
    ------
    ValueError
        If the prices are not one of each resource and non-negative, or if a dynamic program would
        be too large.
    """
    if isinstance(certificate.proof, Recursion):
        whole, scale = instance.whole_values
        return Fraction(int(best_welfare(instance.capacity, whole, instance.demands)), scale)
    if isinstance(certificate.proof, NearPrices):
        return _near_prices(instance, certificate.proof)
    return bound_of_prices(instance, certificate.proof.price)


def _near_prices(instance: AdversarialOnlineRunInstance, proof: NearPrices) -> Fraction:
    """Return the stated welfare, or that of the best solution if it is better."""
    check_prices(proof.price, "price", len(instance.capacity), "resources")
    core = Core.at(instance, proof.price)
    asked = core.loss(proof.welfare)
    try:
        least = core.least_loss(asked)
    except CoreTooLarge as error:
        raise ValueError(f"welfare: {error}") from None
    return proof.welfare if least == asked else core.welfare(least)
