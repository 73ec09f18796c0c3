"""Lower bounds with certificates: `lagrangian`, of the model with the momentum cap."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="lagrangian",
        kind="relaxation",
        summary="steps lost at least under the momentum cap, by prices of terms and commits",
        reference="this project",
        run=part("lagrangian:lagrangian"),
        formulation="lagrangian",
    ),
)
