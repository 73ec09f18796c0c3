"""Features of an instance: its density and difficulty, after Chu and Beasley and after Pisinger."""

from __future__ import annotations

import numpy as np

from gadgetopt.system.features import (
    correlation,
    largest_share,
    mean,
    variation,
)

from .instance import KnapsackInstance


def features(instance: KnapsackInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `tightness`: capacity over the largest possible total weight, for the tightest row; 1 if
      everything fits.
    - `binding_rows`: number of rows whose capacity all items together exceed.
    - `useful_items`: number of items that have a profit and fit alone.
    - `mean_item_share`: share of its fullest row that a useful item takes, on average.
    - `weight_density`: share of nonzero weights.
    - `profit_variation`, `weight_variation`: coefficients of variation over the useful items, of
      weights as shares of their fullest rows.
    - `profit_weight_correlation`: correlation of profit and that share; values near 1 are hard.
    """
    capacity = np.array([float(c) for c in instance.capacities])
    everything = np.zeros(len(capacity))
    non_zero = 0
    profits: list[float] = []
    shares: list[float] = []
    for items in instance.groups:
        weights = np.array([[float(w) for w in item.weights] for item in items])
        everything += weights.max(axis=0)
        non_zero += int(np.count_nonzero(weights))
        for item, row in zip(items, weights, strict=True):
            if item.profit > 0 and (row <= capacity).all():
                profits.append(float(item.profit))
                shares.append(largest_share(row.tolist(), capacity.tolist()))
    asked = everything > 0
    room = capacity[asked] / everything[asked]
    return {
        "tightness": float(min(1.0, room.min(initial=1.0))),
        "binding_rows": float(np.count_nonzero(everything > capacity)),
        "useful_items": float(len(profits)),
        "mean_item_share": mean(shares),
        "weight_density": non_zero / (instance.num_items * len(capacity)),
        "profit_variation": variation(profits),
        "weight_variation": variation(shares),
        "profit_weight_correlation": correlation(profits, shares),
    }
