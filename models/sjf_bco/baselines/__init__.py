"""Baselines of the paper, and heuristics of ours.

first_fit: first fit (FF), list scheduling (LS) and random placement (RAND).
local_search: LPT on single servers, iterated; not in the paper.
nested_blocks: annealing of gangs on nested blocks of GPUs; not in the paper.
order_annealing: annealing of start order, placement and delay; not in the paper.
"""

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
    Method(
        "lpt_ils",
        kind="heuristic",
        summary="local placements, longest first, iterated (not in the paper)",
        reference="reference heuristic (reconstructed)",
        run=part("local_search:lpt_ils"),
        parameters={"restarts": 200},
        stochastic=True,
    ),
    Method(
        "nested_blocks",
        kind="heuristic",
        summary="annealing of gangs on nested blocks, sizes in powers of two (not in the paper)",
        reference="nested blocks (reconstructed)",
        run=part("nested_blocks:nested_blocks"),
        parameters={"moves": 100_000_000},
        stochastic=True,
    ),
    Method(
        "order_annealing",
        kind="heuristic",
        summary="annealing of start order, placement and delay, for few jobs (not in the paper)",
        reference="order annealing (reconstructed)",
        run=part("order_annealing:order_annealing"),
        parameters={"moves": 2_000_000},
        stochastic=True,
    ),
)
