"""The exact method: all policies that are offered, each simulated (`enumeration`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="all_policies",
        kind="exact",
        summary="simulates every policy, each until it converges or another was sooner",
        reference="this project",
        run=part("enumeration:all_policies_simulated"),
        formulation="all_policies",
    ),
)
