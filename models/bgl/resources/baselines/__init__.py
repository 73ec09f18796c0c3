"""What isolation is compared with: shares without it (`shares`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="even_split",
        kind="baseline",
        summary="every resource in halves, as free contention would share it",
        reference="this project",
        run=part("shares:even_split"),
    ),
)
