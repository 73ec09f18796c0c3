"""The closed form for non-decreasing prices of one resource (`closed_form`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="closed_form",
        kind="exact",
        summary="cheapest sales to every state, then k requests just below the next price",
        reference="standard theory, reconstructed",
        run=part("closed_form:closed_form"),
        formulation="closed_form",
    ),
)
