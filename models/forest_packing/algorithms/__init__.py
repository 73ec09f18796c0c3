"""The packing algorithm step by step.

- forest_packing: near-optimal packing by multiplicative weights, the paper's method as we read it.
- multiplicative_weights: the packing scheme of Garg and Koenemann that it rests on.
- schedule: slices of the data and pipelined chunks of a packing.
- exact_plans: exact plans and prices from trees and prices in floating point.
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
        parameters={"eps": 0.1, "prune": 1e-3},
    ),
)
