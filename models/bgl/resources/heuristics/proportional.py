"""Shares in proportion to the work of stages."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..baselines.shares import shared
from ..instance import ResourcesInstance


@method(kind="heuristic", reference="this project")
def proportional(instance: ResourcesInstance) -> MethodOutcome:
    """Every resource in proportion to the work of its two stages.

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
