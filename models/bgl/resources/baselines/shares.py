"""Shares without isolation."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome, Status

from ..instance import ResourcesInstance, ResourcesSolution


@method(kind="baseline", reference="this project")
def even_split(instance: ResourcesInstance) -> MethodOutcome:
    """Every resource in halves, as free contention would share it.

    Return halves, what stages that contend without isolation get (reconstructed).
    """
    half = Fraction(1, 2)
    return shared(instance, half, half, half)


def shared(
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
