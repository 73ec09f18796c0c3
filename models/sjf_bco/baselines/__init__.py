"""Baselines of the paper: first fit (FF), list scheduling (LS), random placement (RAND)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)
searches: dict[str, tuple[str, str, str] | tuple[str, str]] = {
    "theta_search": ("literal", "feasible", "sweep"),
    "availability": ("idle", "queue"),
}
orders: dict[str, tuple[str, str]] = {"job_order": ("given", "smallest_first")}

METHODS = (
    Method(
        "first_fit",
        kind="baseline",
        summary="FF: the first GPUs under the load limit",
        reference="baseline FF",
        run=part("first_fit:first_fit"),
        parameters={"theta_search": "literal", "availability": "idle", "job_order": "given"},
        choices={**searches, **orders},
    ),
    Method(
        "list_scheduling",
        kind="baseline",
        summary="LS: the least loaded GPUs",
        reference="baseline LS",
        run=part("first_fit:list_scheduling"),
        parameters={"theta_search": "literal", "availability": "idle", "job_order": "given"},
        choices={**searches, **orders},
    ),
    Method(
        "random_placement",
        kind="baseline",
        summary="RAND: random GPUs",
        reference="baseline RAND",
        run=part("first_fit:random_placement"),
        parameters={"rand_mode": "gpu", "availability": "idle", "job_order": "given"},
        choices={"rand_mode": ("gpu", "server"), "availability": ("idle", "queue"), **orders},
        stochastic=True,
    ),
)
