"""Features: how scarce the units are, and how much the order of the stream may hurt."""

from __future__ import annotations

import numpy as np

from gadgetopt.system.features import variation

from .instance import AdversarialOnlineRunInstance


def features(instance: AdversarialOnlineRunInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `load`: units demanded over units for sale, of the resource where it is largest; at most 1,
      nobody needs to be refused.
    - `spread`: largest over smallest value that a unit may have; ratios grow with its logarithm.
    - `fewest_units`: capacity of the scarcest resource; with few units, tables are coarse.
    - `value_variation`: coefficient of variation of the values.
    - `late_value_share`: share of the value that comes in the second half of the stream; near 1, a
      seller who sells early regrets it.
    """
    if instance.demand:
        demanded = np.asarray(instance.demand).sum(axis=0)
    else:
        demanded = np.array([len(instance.value)])
    values = np.asarray(instance.value)
    scaled = values / values.max()
    return {
        "load": float((demanded / np.asarray(instance.capacity)).max()),
        "spread": float(instance.spread),
        "fewest_units": float(min(instance.capacity)),
        "value_variation": variation(map(float, scaled)),
        "late_value_share": float(scaled[len(scaled) // 2 :].sum() / scaled.sum()),
    }
