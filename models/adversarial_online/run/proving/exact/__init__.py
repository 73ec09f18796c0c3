"""The offline optimum, by what suits the instance (`offline`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="offline",
        kind="exact",
        summary="the all-knowing seller: by sorting, by dynamic programming, or by HiGHS",
        reference="(P)",
        run=part("offline:offline"),
        formulation="offline",
    ),
)
