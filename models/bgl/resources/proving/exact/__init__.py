"""The exact method: parametric search (`parametric`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="parametric",
        kind="exact",
        summary="least shares for a time, and bisection over the times that can be optimal",
        reference="this project",
        run=part("parametric:parametric"),
        formulation="parametric",
    ),
)
