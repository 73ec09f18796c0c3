"""What closes gaps.

- `decomposition`: the pool first, then its servers, then both together.
- `pool_program`: the pool relaxation by prices and a program over the starts that they leave.
- `pool_states`: the same by dynamic programming over time, where these are few.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="decomposition",
        kind="exact",
        summary="the pool by prices and states of time, servers for its starts, then model B",
        reference="4.5 (reconstructed)",
        run=part("decomposition:decomposition"),
        parameters={"annealings": 3},
        stochastic=True,
        formulation="decomposition",
    ),
)
