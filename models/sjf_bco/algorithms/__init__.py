"""The paper's algorithm, step by step."""

from gadgetopt.system.declaration import Method, Parts

part = Parts(__name__)
searches = {
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
