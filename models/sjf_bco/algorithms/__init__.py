"""The paper's algorithm.

plain: Algorithms 1-3 step by step, as printed.
sjf_bco: the method, Algorithms 1-3 (their selection of GPUs is in `subproblems/pools.py`).
theta_search: the search for the load limit, the outer loop of Algorithm 1.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)
searches: dict[str, tuple[str, str, str] | tuple[str, str]] = {
    "theta_search": ("literal", "feasible", "sweep"),
    "availability": ("idle", "queue"),
}

METHODS = (
    Method(
        "sjf_bco",
        kind="approximation",
        summary="smallest job first with balanced contention and overhead",
        reference="Algorithm 1, with Algorithms 2 and 3",
        run=part("sjf_bco:sjf_bco"),
        parameters={
            "theta_search": "literal",
            "availability": "idle",
            "packing": "least_loaded",
            "seed_unbounded": False,
        },
        choices={**searches, "packing": ("least_loaded", "opened_first")},
    ),
)
