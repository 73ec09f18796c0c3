"""What closes gaps: `search_and_close`, a search first and F3 on the slots that it leaves."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="search_and_close",
        kind="exact",
        summary="order search and bounds by formula; then F3 on the slots in which jobs may end",
        reference="this project",
        run=part("search_and_close:search_and_close"),
        parameters={"rounds": 100},
        stochastic=True,
        formulation="time_slotted",
        backend="highs",
    ),
)
