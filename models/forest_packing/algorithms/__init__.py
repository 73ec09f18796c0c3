"""The packing algorithm step by step, and the polynomial one for equal shares.

- forest_packing: near-optimal packing by multiplicative weights, the paper's method as we read it.
- multiplicative_weights: the packing scheme of Garg and Koenemann that it rests on.
- schedule: roots, slices of the data and pipelined chunks of a packing.
- equal_share, cable_trees: trees of equal rate in polynomial time; matroid union and bounds.
- exact_plans, tree_plans: exact plans and certificates from floating-point trees and prices.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

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
