"""The paper's algorithm, step by step."""

from gadgetopt.system.declaration import Method, Parts

part = Parts(__name__)

METHODS = (
    Method(
        "forest_packing",
        kind="approximation",
        summary="near-optimal packing by multiplicative weights (reconstructed)",
        reference="A1, A2",
        run=part("forest_packing:forest_packing"),
        parameters={
            "eps": 0.1,
            "target_gap": 0.0,
            "scaling": "congestion",
            "polish": True,
            "prune": 1e-3,
        },
        choices={"scaling": ("congestion", "theory")},
    ),
    Method(
        "equal_share_partition",
        kind="exact",
        summary="K trees of equal share, by bisection over tree-packing numbers",
        reference="F8a",
        run=part("equal_share:equal_share_partition"),
        formulation="equal_share",
    ),
)
