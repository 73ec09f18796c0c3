"""Exact methods: retention for a given order, order and retention together.

- `retention`: Belady's sweep, minimum-cost flow, and the integer program.
- `order_search`: the default method, for instances of any kind.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="belady",
        kind="exact",
        summary="the earliest next uses are kept: optimal for a given order and equal weights",
        reference="section 4.1; Belady 1966",
        run=part("retention:belady"),
        formulation="sweep",
    ),
    Method(
        name="retention_flow",
        kind="exact",
        summary="minimum-cost flow of the cache's units along the batches, for a given order",
        reference="section 4.1",
        run=part("retention:retention_flow"),
        formulation="flow",
        backend="ortools",
    ),
    Method(
        name="order_search",
        kind="exact",
        summary="retention by sweep, flow or integer program; orders by prefixes and bounds",
        reference="this project",
        run=part("order_search:order_search"),
        parameters={"width": 300, "rounds": 300},
        stochastic=True,
        formulation="order_search",
    ),
)
