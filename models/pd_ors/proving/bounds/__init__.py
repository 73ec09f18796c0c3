"""Upper bounds on the total utility, each with prices as its certificate.

- `alone`, `volume_knapsack`, `price_bound`: from the cheapest on.
- `column_lp`: the linear relaxation of the schedule columns, by column generation
  (`column_generation`, `restricted_master`, `class_pricing`).
- `infeasibility`: jobs that can earn nothing, and why.
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
        run=part("alone:alone"),
        formulation="alone",
    ),
    Method(
        "volume_knapsack",
        kind="relaxation",
        summary="a knapsack of whole jobs in the cluster's volume over the horizon",
        reference="volume knapsack (reconstructed)",
        run=part("volume_knapsack:volume_knapsack"),
        parameters={"integral": False},
        formulation="volume_knapsack",
    ),
    Method(
        "price_bound",
        kind="relaxation",
        summary="the final prices of PD-ORS, scaled, as a dual solution",
        reference="D(s) (reconstructed)",
        run=part("price_bound:price_bound"),
        parameters={"upper": "min", "log_price_span": None},
        choices={"upper": ("min", "sum")},
        formulation="price_bound",
    ),
    Method(
        "column_lp",
        kind="relaxation",
        summary="linear relaxation of the schedule columns, by column generation",
        reference="(10), (11)",
        run=part("column_lp:column_lp"),
        parameters={"quanta": 200, "finest": 4000, "warm_start": True},
        formulation="schedule_columns",
    ),
)
