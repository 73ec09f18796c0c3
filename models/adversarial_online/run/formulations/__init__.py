"""The offline problem on paper (`packing`)."""

from gadgetopt.system.declaration import Formulation, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        name="packing",
        model_class="ILP",
        strength="exact",
        summary="a binary variable for every request, a row for every resource",
        equations="(P)",
        build=part("packing:build"),
        decode=part("packing:decode"),
        backends=("highs", "cpsat"),
    ),
    Formulation(
        name="packing_lp",
        model_class="LP",
        strength="relaxation",
        summary="its linear relaxation: the duals are the best prices in hindsight",
        equations="(P)",
        build=part("packing:build_relaxation"),
        decode=None,
        backends=("highs",),
    ),
)
