r"""Certificates of upper bounds on the value, and their check in exact numbers.

With any price :math:`\lambda \ge 0` of a kilogram, a choice is worth at most what its weight costs
and what its items are worth beyond that:

.. math:: OPT \le \lambda C + \sum_{i: w_i \le C} \max(0,\ v_i - \lambda w_i)

Values are whole numbers, so the bound is rounded down.
"""

from __future__ import annotations

import math
from fractions import Fraction

from gadgetopt.system.data import Certificate, Rational

from ..instance import SkeletonInstance


class SkeletonCertificate(Certificate):
    """A price of a kilogram, at least 0."""

    price: Rational


def check_bound(
    instance: SkeletonInstance,
    certificate: SkeletonCertificate,
) -> int:
    """Return the upper bound that a price proves.

    Raises
    ------
    ValueError
        If the price is negative: it proves nothing.
    """
    price = certificate.price
    if price < 0:
        raise ValueError(f"price: {price}, expected at least 0")
    bound = price * instance.capacity_kg
    for w, v in zip(instance.weight_kg, instance.value, strict=True):
        if w <= instance.capacity_kg:
            bound += max(Fraction(0), v - price * w)
    return math.floor(bound)
