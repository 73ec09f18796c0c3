"""Models on paper.

- `direct`: a binary variable for every item, and its linear relaxation
"""

from gadgetopt.system.declaration import Formulation, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        "direct",
        model_class="ILP",
        strength="exact",
        summary="a binary variable for every item",
        equations="(K1)-(K4)",
        build=part("direct:build"),
        decode=part("direct:decode"),
        backends=("highs", "cpsat"),
    ),
    Formulation(
        "lp_relaxation",
        model_class="LP",
        strength="relaxation",
        summary="linear relaxation: fractions of items",
        equations="(K1)-(K3)",
        build=part("direct:build_relaxation"),
        decode=None,
        backends=("highs",),
    ),
)
