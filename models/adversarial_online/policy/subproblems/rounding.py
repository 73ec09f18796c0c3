"""A network's prices rounded to a table of sale probabilities, whose worst case is exact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gadgetopt.pieces.learning.networks import logits, softmax

from ..instance import AdversarialOnlinePolicyInstance, SaleTable


def rounded_table(
    instance: AdversarialOnlinePolicyInstance, weights: Mapping[str, Any], parts_per_unit: int
) -> SaleTable:
    """Return the table of a seller's network: its inputs at every number of parts sold.

    A buyer of level j gets as many parts as the chance of the prices up to her value, rounded.
    """
    J, k, m = len(instance.levels), instance.capacity_units, parts_per_unit
    left = 1.0 - np.arange(k * m + 1) / (k * m)
    seen = np.array([0.0, *(float(x / instance.levels[-1]) for x in instance.levels)])
    inputs = np.stack(np.broadcast_arrays(left[:, None], seen[None, :]), axis=-1)
    prices = softmax(logits(weights, inputs))
    chance = prices[..., :J].cumsum(axis=-1)
    parts = np.floor(chance * m + 0.5).astype(np.int64)
    most = np.arange(k * m, -1, -1)[:, None, None]
    parts = np.minimum(np.minimum(parts, m), most)
    return SaleTable(
        parts_per_unit=m, parts=tuple(tuple(map(tuple, row)) for row in parts.tolist())
    )
