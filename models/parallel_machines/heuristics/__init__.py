"""Heuristics of ours, not in the literature.

- `local_search`: over pairs of machines.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="local_search",
        kind="heuristic",
        summary="best of LPT, MULTIFIT and differencing; then balances pairs of machines",
        reference="this project",
        run=part("local_search:local_search"),
        parameters={"kicks": 2000},
        stochastic=True,
    ),
)
