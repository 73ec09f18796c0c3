"""The exact method: all plans below the incumbent, and the best orders of each (`exact_spp`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="exact_spp",
        kind="exact",
        summary="SPP, then all plans whose bound is below it, each scheduled by CP-SAT",
        reference="this project",
        run=part("exact_spp:exact_spp"),
        stochastic=True,
        formulation="exact_spp",
        backend="cpsat",
    ),
)
