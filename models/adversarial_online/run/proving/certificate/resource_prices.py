"""What prices of the resources prove, for the check: one request after the other.

`subproblems.price_bound` computes the same for the search, by kinds of demands in arrays; a test
holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import mul

from gadgetopt.numbers.exact import check_prices, common_denominator

from ...instance import AdversarialOnlineRunInstance


def bound_of_prices(instance: AdversarialOnlineRunInstance, price: Sequence[Fraction]) -> Fraction:
    r"""Return :math:`\sum_r C_r \lambda_r + \sum_j (v_j - \sum_r d_{jr} \lambda_r)^+`.

    Raises
    ------
    ValueError
        If there is not one price of each resource, or one is negative.
    """
    check_prices(price, "price", len(instance.capacity), "resources")
    values, scale = instance.whole_values
    parts = common_denominator(x * scale for x in price)
    # Money is counted in parts of 1 / (scale * parts).
    prices = [int(x * scale * parts) for x in price]
    total = sum(map(mul, instance.capacity, prices))
    for value, demand in zip(values.tolist(), instance.demands, strict=True):
        total += max(0, value * parts - sum(map(mul, demand, prices)))
    return Fraction(total, scale * parts)
