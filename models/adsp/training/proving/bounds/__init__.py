"""The lower bound there is: updates have to arrive (`arrivals`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="arrivals",
        kind="relaxation",
        summary="as many updates as the convergence asks for have to arrive",
        reference="this project",
        run=part("arrivals:arrivals"),
        formulation="arrivals",
    ),
)
