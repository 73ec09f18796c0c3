"""Lower bounds over all plans (`least_bound`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="least_bound",
        kind="approximation",
        summary="the plan of the least head, load and tail, by labels; its best simple schedule",
        reference="this project",
        run=part("least_bound:least_bound"),
        formulation="labels",
    ),
)
