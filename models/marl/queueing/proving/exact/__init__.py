"""What closes gaps: `search_and_close`, rules, then all plans, or F3 where they are too many."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="search_and_close",
        kind="exact",
        summary="rules and bounds by formula; then all plans, or F3 where they are too many",
        reference="this project",
        run=part("search_and_close:search_and_close"),
        parameters={"rounds": 100},
        stochastic=True,
        formulation="time_slotted",
        backend="highs",
    ),
)
