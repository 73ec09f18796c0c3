"""What closes gaps.

- `decomposition`: the pool first, then its servers, then both together.
- `pool_program`: the pool relaxation by prices and a program over the starts that they leave.
- `pool_states`: the same by dynamic programming over time, where these are few.
- `pool_search`: a good schedule of the pool to begin with.
- `server_assignment`: servers for the starts of a schedule of the pool.
- `cp`: the models of `formulations/cp_model.py` as methods.
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
    Method(
        name="cp_configurations",
        kind="exact",
        summary="model A: an optional interval for every configuration (native CP-SAT)",
        reference="model A (reconstructed)",
        run=part("cp:cp_configurations"),
        formulation="cp_configurations",
        backend="cpsat",
    ),
    Method(
        name="cp_demands",
        kind="exact",
        summary="model B: GPUs on every server as variables, a table, the pool (native CP-SAT)",
        reference="model B (reconstructed)",
        run=part("cp:cp_demands"),
        formulation="cp_demands",
        backend="cpsat",
    ),
    Method(
        name="cp_pool",
        kind="relaxation",
        summary="the pool relaxation, one cumulative constraint (native CP-SAT)",
        reference="(P) (reconstructed)",
        run=part("cp:cp_pool"),
        formulation="cp_pool",
        backend="cpsat",
    ),
)
