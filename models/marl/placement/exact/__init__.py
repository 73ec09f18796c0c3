"""What closes gaps.

- `price_and_close`: the default method: column generation, then all contents within the gap.
- `closing_program`: the integer program over those.
"""

from gadgetopt.system.declaration import Method, Parts

part = Parts(__name__)

METHODS = (
    Method(
        "price_and_close",
        kind="exact",
        summary="column generation, then an integer program over all contents within the gap",
        reference="(C1)-(C4), (L1)-(L7) (reconstructed)",
        run=part("price_and_close:price_and_close"),
        formulation="configuration",
        backend="highs",
    ),
)
