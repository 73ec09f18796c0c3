"""Shares in proportion to the work of stages."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome

from ..baselines.shares import shared
from ..instance import ResourcesInstance


def proportional(
    instance: ResourcesInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return shares in proportion to the works of the two stages of each resource.

    Optimal for the store up to rounding; elsewhere it forgets that the cache waits for both.
    """
    return shared(
        instance,
        _part(instance.request_core_s, instance.construct_core_s),
        _part(instance.process_core_s, instance.cache_core_s),
        _part(instance.subgraph_unit_s, instance.feature_unit_s),
    )


def _part(first: Fraction, second: Fraction) -> Fraction:
    return first / (first + second) if first + second else Fraction(1, 2)
