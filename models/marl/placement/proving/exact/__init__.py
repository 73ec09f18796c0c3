"""What closes gaps.

- `price_and_close`: the default method: column generation, then all contents within the gap.
- `closing_program`: the integer program over those.
- `branching`: branch and price on what gangs cost.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "price_and_close",
        kind="exact",
        summary="column generation, then an integer program over all contents within the gap",
        reference="(C1)-(C4), (L1)-(L7) (reconstructed)",
        run=part("price_and_close:price_and_close"),
        formulation="configuration",
        backend="highs",
        stochastic=True,
    ),
    Method(
        "branch_and_price",
        kind="exact",
        summary="column generation, then a tree that branches on the costs of gangs",
        reference="(C1)-(C4), (L1)-(L7), branching (reconstructed)",
        run=part("price_and_close:branch_and_price"),
        formulation="configuration",
        backend="highs",
        stochastic=True,
    ),
)
