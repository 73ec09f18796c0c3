"""Shares without optimisation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..instance import ResourcesInstance, ResourcesSolution


def even_split(
    instance: ResourcesInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return halves, what stages that contend without isolation get (reconstructed)."""
    half = Fraction(1, 2)
    return _shared(instance, half, half, half)


def proportional(
    instance: ResourcesInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return shares in proportion to the works of the two stages of each resource.

    Optimal for the store up to rounding; elsewhere it forgets that the cache waits for both.
    """
    return _shared(
        instance,
        _part(instance.request_core_s, instance.construct_core_s),
        _part(instance.process_core_s, instance.cache_core_s),
        _part(instance.subgraph_unit_s, instance.feature_unit_s),
    )


def _part(first: Fraction, second: Fraction) -> Fraction:
    return first / (first + second) if first + second else Fraction(1, 2)


def _shared(
    instance: ResourcesInstance, store: Fraction, worker: Fraction, pcie: Fraction
) -> MethodOutcome:
    """Return the allocation whose first stages have these parts, rounded, all at least 1."""
    if not instance.has_shares:
        return MethodOutcome(proved=Status.INFEASIBLE)

    def first(part: Fraction, whole: int) -> int:
        return min(max(1, round(part * whole)), whole - 1)

    request = first(store, instance.store_cores)
    process = first(worker, instance.worker_cores)
    subgraph = first(pcie, instance.pcie_units)
    return MethodOutcome(
        solution=ResourcesSolution(
            request_cores=request,
            construct_cores=instance.store_cores - request,
            process_cores=process,
            cache_cores=instance.worker_cores - process,
            subgraph_units=subgraph,
            feature_units=instance.pcie_units - subgraph,
        )
    )
