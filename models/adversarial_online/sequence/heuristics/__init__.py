"""Heuristics of ours, not in the paper.

- `local_search`: one request is changed, added or dropped.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="local_search",
        kind="heuristic",
        summary="changes, adds or drops one request while that makes the sequence worse",
        reference="this project",
        run=part("local_search:local_search"),
        parameters={"starts": 20},
        stochastic=True,
    ),
)
