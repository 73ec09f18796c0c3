"""Upper bounds on the ratio or the regret, each with a certificate (`any_horizon`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="any_horizon",
        kind="relaxation",
        summary="the ratio or regret of sequences of any length: the horizon is left out",
        reference="this project",
        run=part("any_horizon:any_horizon"),
        formulation="any_horizon",
    ),
)
