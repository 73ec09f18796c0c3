"""Lower bounds with certificates.

- `configuration`: every job alone; the linear relaxation of the configuration program.
- `column_generation`: how that is solved.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "alone",
        kind="relaxation",
        summary="every job as if it had the cluster to itself",
        reference="alone bound (reconstructed)",
        run=part("configuration:alone"),
    ),
    Method(
        "configuration_lp",
        kind="relaxation",
        summary="contents of servers in fractions, by column generation with exact pricing",
        reference="(C1)-(C4) (reconstructed)",
        run=part("configuration:configuration_lp"),
        formulation="configuration",
        backend="highs",
    ),
)
