"""Sequences without a guarantee: the chain of all levels, and local search (`sequences`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="chain",
        kind="baseline",
        summary="as many copies of each type as fit, the least value first; the worst prefix",
        reference="standard theory, reconstructed",
        run=part("sequences:chain"),
    ),
    Method(
        name="local_search",
        kind="heuristic",
        summary="changes, adds or drops one request while that makes the sequence worse",
        reference="this project",
        run=part("sequences:local_search"),
        parameters={"starts": 20},
        stochastic=True,
    ),
)
