"""Lower bounds on every policy's worst case, each with a certificate (`hardest_chain`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="hardest_chain",
        kind="relaxation",
        summary="one non-decreasing sequence with a random end; the optimum of ratio games",
        reference="this project",
        run=part("hardest_chain:hardest_chain"),
        formulation="hardest_chain",
    ),
)
