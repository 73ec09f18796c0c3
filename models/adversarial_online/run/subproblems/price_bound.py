"""What prices of the resources prove, in exact numbers: the dual of the relaxation of (P)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.exact import ceiling, check_prices, dot

from ..instance import AdversarialOnlineRunInstance


def price_bound(instance: AdversarialOnlineRunInstance, price: Sequence[Fraction]) -> Fraction:
    """Return the bound that prices of the resources prove."""
    check_prices(price, "price", len(instance.capacity), "resources")
    whole, scale = instance.whole_values
    bound = sum((c * x for c, x in zip(instance.capacity, price, strict=True)), Fraction(0))
    demands, kind_of = instance.kinds
    costs = [dot(price, demand) * scale for demand in demands]
    least = np.array([ceiling(cost) for cost in costs], dtype=object)
    if max(least) <= np.iinfo(np.int64).max:
        least = least.astype(np.int64)
    accepted = whole >= least[kind_of]
    total = sum(whole[accepted].tolist())
    of_kind = np.bincount(kind_of[accepted], minlength=len(demands)).tolist()
    return bound + (total - dot(costs, of_kind)) / scale
