"""What prices of the resources prove, in exact numbers: the dual of the relaxation of (P)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.exact import ceiling, check_prices, dot

from ...subproblems.whole import AT_ONCE
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
    total, of_kind = 0, np.zeros(len(demands), dtype=np.int64)
    for begin in range(0, len(whole), AT_ONCE):
        value, kind = whole[begin : begin + AT_ONCE], kind_of[begin : begin + AT_ONCE]
        accepted = value >= least[kind]
        total += sum(value[accepted].tolist())
        of_kind += np.bincount(kind[accepted], minlength=len(demands))
    return bound + (total - dot(costs, of_kind.tolist())) / scale
