"""Features: what makes an instance difficult, in linear time."""

from __future__ import annotations

from gadgetopt.system.features import correlation, variation

from .instance import SkeletonInstance


def features(instance: SkeletonInstance) -> dict[str, float]:
    """Return what makes an instance difficult.

    - `tightness`: capacity over the weight of all items; from 1 on, everything fits.
    - `weight_variation`: coefficient of variation of the weights.
    - `correlation`: that of weights and values; near 1, no item is better than another.
    """
    weights, values = list(map(float, instance.weight_kg)), list(map(float, instance.value))
    return {
        "tightness": instance.capacity_kg / sum(instance.weight_kg),
        "weight_variation": variation(weights),
        "correlation": correlation(weights, values),
    }
