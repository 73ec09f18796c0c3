"""Lower bounds with certificates.

- `relaxations`: every job alone; the cluster as one machine.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "alone",
        kind="relaxation",
        summary="every job as if it had the cluster to itself",
        reference="alone bound (reconstructed)",
        run=part("relaxations:alone"),
    ),
    Method(
        "srpt",
        kind="relaxation",
        summary="the cluster as one machine, shortest remaining processing time first",
        reference="SRPT relaxation (reconstructed)",
        run=part("relaxations:srpt"),
    ),
)
