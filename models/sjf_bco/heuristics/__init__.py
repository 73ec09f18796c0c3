"""Heuristics of ours, not in the paper, with their loops.

load_limits: SJF-BCO with other searches for the load limit.
local_search: LPT on single servers, iterated.
nested_blocks: annealing of gangs on nested blocks of GPUs.
order_annealing: annealing of start order, placement and delay.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

readings: dict[str, tuple[str, str]] = {
    "availability": ("idle", "queue"),
    "packing": ("least_loaded", "opened_first"),
}

METHODS = (
    Method(
        "sjf_bco_sweep",
        kind="heuristic",
        summary="SJF-BCO over every load limit that makes a difference",
        reference="Algorithm 1 with another search for theta (reconstructed)",
        run=part("load_limits:sjf_bco_sweep"),
        parameters={"availability": "idle", "packing": "least_loaded"},
        choices=readings,
    ),
    Method(
        "sjf_bco_feasible",
        kind="heuristic",
        summary="SJF-BCO by a bisection on whether all jobs can be placed",
        reference="Algorithm 1 with another search for theta (reconstructed)",
        run=part("load_limits:sjf_bco_feasible"),
        parameters={"availability": "idle", "packing": "least_loaded"},
        choices=readings,
    ),
    Method(
        "sjf_bco_unbounded",
        kind="heuristic",
        summary="SJF-BCO and the run without a load limit beside it",
        reference="Algorithm 1 with another search for theta (reconstructed)",
        run=part("load_limits:sjf_bco_unbounded"),
        parameters={"availability": "idle", "packing": "least_loaded"},
        choices=readings,
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
