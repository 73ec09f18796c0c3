"""BGL's brute force over shares of cores and PCIe, step by step (section 3.4, recalled).

Nothing here is fast: it goes through all shares of all three, C_gs C_wm B of them.

Letters, as in the paper: c_1 and c_2 cores of the graph store, c_3 and c_4 cores of the worker, b_I
and b_II units of PCIe; C_gs, C_wm and B what there is of them.
"""

from __future__ import annotations

from itertools import product

from ..evaluate import stage_times
from ..instance import ResourcesInstance, ResourcesSolution


def brute_force(instance: ResourcesInstance) -> ResourcesSolution | None:
    """Return the shares whose slowest stage is fastest; None if a stage is left with nothing."""
    C_gs, C_wm, B = instance.store_cores, instance.worker_cores, instance.pcie_units
    best = None
    for c_1, c_3, b_I in product(range(1, C_gs), range(1, C_wm), range(1, B)):
        shares = ResourcesSolution(
            request_cores=c_1,
            construct_cores=C_gs - c_1,
            process_cores=c_3,
            cache_cores=C_wm - c_3,
            subgraph_units=b_I,
            feature_units=B - b_I,
        )
        slowest_s = max(stage_times(instance, shares).values())  # (9)
        if best is None or slowest_s < best[0]:
            best = slowest_s, shares
    return None if best is None else best[1]
