"""The paper's brute force: all ways to share cores and PCIe."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..instance import ResourcesInstance, ResourcesSolution

#: Allocations of the worker machine up to which all are tried. Tuned: `benchmarks/constants.py`.
_MOST = 10**6


@method(kind="exact", reference="BGL, section 3.4 (recalled)", formulation="enumeration")
def brute_force(instance: ResourcesInstance, limits: Limits) -> MethodOutcome:
    r"""All shares of the store, and all of worker and PCIe.

    Try all shares; the store's are independent of the others: :math:`O(C_{gs} + C_{wm} B)`.
    The same result as `plain`, tested.

    Raises
    ------
    ModelRefused
        If there are more than a million.
    """
    tried = instance.store_cores + instance.worker_cores * instance.pcie_units
    if tried > _MOST:
        raise ModelRefused(f"worker_cores: {tried} allocations are too many to try")
    if not instance.has_shares:
        return MethodOutcome(proved=Status.INFEASIBLE)
    clock = Clock(limits)
    store_s, request = min(
        (
            max(
                instance.request_core_s / c,
                instance.construct_core_s / (instance.store_cores - c),
            ),
            c,
        )
        for c in range(1, instance.store_cores)
    )
    best: tuple[Fraction, int, int] | None = None
    for c in range(1, instance.worker_cores):
        if clock.expired:
            break
        process_s = instance.process_core_s / c
        for b in range(1, instance.pcie_units):
            slowest_s = max(
                process_s,
                instance.subgraph_unit_s / b,
                instance.cache_s(instance.worker_cores - c, instance.pcie_units - b),
            )
            if best is None or slowest_s < best[0]:
                best = (slowest_s, c, b)
    if best is None:
        return MethodOutcome(limit_hit="time_s")
    worker_s, process, subgraph = best
    theta = max(instance.fixed_s, store_s, worker_s)
    return MethodOutcome(
        solution=ResourcesSolution(
            request_cores=request,
            construct_cores=instance.store_cores - request,
            process_cores=process,
            cache_cores=instance.worker_cores - process,
            subgraph_units=subgraph,
            feature_units=instance.pcie_units - subgraph,
        ),
        claimed_objective=theta,
        dual_bound=None if clock.expired else theta,
        limit_hit="time_s" if clock.expired else None,
    )
