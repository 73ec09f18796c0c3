"""Heuristics of ours, not in the paper: shares in proportion to work (`proportional`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="proportional",
        kind="heuristic",
        summary="every resource in proportion to the work of its two stages",
        reference="this project",
        run=part("proportional:proportional"),
    ),
)
