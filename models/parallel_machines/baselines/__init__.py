"""Heuristics of our own, without a guarantee."""

from gadgetopt.system.declaration import Method, Parts

part = Parts(__name__)

METHODS = (
    Method(
        name="local_search",
        kind="heuristic",
        summary="best of LPT, MULTIFIT and differencing; then pairs of machines balanced exactly",
        reference="this project",
        run=part("local_search:local_search"),
        parameters={"kicks": 2000},
        stochastic=True,
    ),
)
