"""The paper's algorithm, step by step.

- `device_order`: RDO, recursive device ordering, and other orders of the GPUs.
- `block_costs`: loads of stages and channels on consecutive GPUs of an order.
- `prm`: partition, replication and mapping for an order, by dynamic programming.
- `spp`: the whole, with PE, the execution scheduler.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="spp",
        kind="approximation",
        summary="recursive device ordering, least load for every number of stages, PE",
        reference="Luo et al. 2022 (reconstructed)",
        run=part("spp:spp"),
        parameters={"order": "rdo", "gpu_order": "", "tie_break": "recurrence"},
        choices={
            "order": ("rdo", "natural", "list", "best_of_all"),
            "tie_break": ("recurrence", "bound"),
        },
    ),
)
