"""Lower bounds on the cost of loading, each with a certificate.

- `compulsory`: every feature once.
- `boundary_prices`: prices of the cache's space, for a given order.
- `order_tables`: what bottlenecks and heavy paths say of all orders of fixed batches.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="compulsory",
        kind="relaxation",
        summary="every requested feature is loaded once",
        reference="counting",
        run=part("compulsory:compulsory"),
        formulation="compulsory",
    ),
    Method(
        name="boundary_prices",
        kind="relaxation",
        summary="prices of the caches' space between batches, for a given order",
        reference="dual of (5)",
        run=part("boundary_prices:boundary_prices"),
        formulation="boundary_prices",
    ),
    Method(
        name="order_tables",
        kind="relaxation",
        summary="bottlenecks and heaviest paths over all sets of batches, for a free order",
        reference="this project",
        run=part("order_tables:order_tables"),
        formulation="order_tables",
    ),
)
