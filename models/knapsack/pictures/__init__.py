"""Pictures, one file each.

- `capacities`: what the chosen items take of every capacity
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        "capacities",
        summary="what the chosen items take of every capacity",
        draw=part("capacities:plot"),
    ),
)
