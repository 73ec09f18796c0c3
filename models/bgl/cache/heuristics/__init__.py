"""Heuristics of ours, not in the paper.

- `orders`: a heavy path through the overlaps; moves that save reloads.
- `network`: the best retention for an order as a minimum-cost flow.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="path_order",
        kind="heuristic",
        summary="batches along a heavy path through their overlaps, then the best retention",
        reference="this project",
        run=part("orders:path_order"),
    ),
    Method(
        name="order_moves",
        kind="heuristic",
        summary="heavy paths, then moves and reversals that save reloads",
        reference="this project",
        run=part("orders:order_moves"),
        parameters={"rounds": 2000},
        stochastic=True,
    ),
)
