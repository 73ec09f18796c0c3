"""The paper's algorithm.

plain: Algorithms 1-3 step by step, as printed.
sjf_bco: the method, Algorithms 1-3 (their selection of GPUs is in `subproblems/pools.py`).
theta_search: the search for the load limit, the outer loop of Algorithm 1.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)
METHODS = (
    Method(
        "sjf_bco",
        kind="approximation",
        summary="smallest job first with balanced contention and overhead",
        reference="Algorithm 1, with Algorithms 2 and 3",
        run=part("sjf_bco:sjf_bco"),
        parameters={"availability": "idle", "packing": "least_loaded"},
        choices={
            "availability": ("idle", "queue"),
            "packing": ("least_loaded", "opened_first"),
        },
    ),
)
