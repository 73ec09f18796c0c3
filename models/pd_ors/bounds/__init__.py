"""Upper bounds on the total utility, each with prices as its certificate.

- `prices`: the methods, from the cheapest to the linear relaxation of the schedule columns.
- `column_generation`, `restricted_master`, `class_pricing`: that relaxation by column generation.
- `branching_constraints`, `forced_plans`: what branch-and-price adds to its master and its pricing.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "alone",
        kind="relaxation",
        summary="every job as if it had the cluster to itself",
        reference="alone bound (reconstructed)",
        run=part("prices:alone"),
        formulation="alone",
    ),
    Method(
        "volume_knapsack",
        kind="relaxation",
        summary="a knapsack of whole jobs in the cluster's volume over the horizon",
        reference="volume knapsack (reconstructed)",
        run=part("prices:volume_knapsack"),
        parameters={"integral": False},
        formulation="volume_knapsack",
    ),
    Method(
        "price_bound",
        kind="relaxation",
        summary="the final prices of PD-ORS, scaled, as a dual solution",
        reference="D(s) (reconstructed)",
        run=part("prices:price_bound"),
        parameters={"upper": "min", "log_price_span": None},
        choices={"upper": ("min", "sum")},
        formulation="price_bound",
    ),
    Method(
        "column_lp",
        kind="relaxation",
        summary="linear relaxation of the schedule columns, by column generation",
        reference="(10), (11)",
        run=part("prices:column_lp"),
        parameters={"quanta": 200, "finest": 4000, "warm_start": True},
        formulation="schedule_columns",
    ),
)
