"""ADSP: equal commit rates without waiting, the rate found while training (`online`).

The paper's algorithm step by step is in `plain`.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="adsp",
        kind="online",
        summary="equal commits by timers; the rate climbs while measured rewards grow",
        reference="Algorithm 1",
        run=part("online:adsp"),
    ),
)
