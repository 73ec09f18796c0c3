"""A lower bound with a certificate: shares that need not be whole (`continuous`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="continuous",
        kind="relaxation",
        summary="shares of at least 1 that need not be whole",
        reference="relaxation of (9)",
        run=part("continuous:continuous"),
        formulation="continuous",
    ),
)
