"""Relaxations, and what computes their certificates."""

from gadgetopt.system.declaration import Formulation, Method, Parts

part = Parts(__name__)

FORMULATIONS = (
    Formulation(
        "class_bound",
        model_class="ILP",
        strength="relaxation",
        summary="scarcity of large servers, by size class",
        equations="class bound (reconstructed)",
        build=part("class_bound:build"),
        decode=None,
        backends=("highs",),
    ),
)

METHODS = (
    Method(
        "combinatorial",
        kind="relaxation",
        summary="the larger of the energetic and the certified class bound",
        reference="verified lower bounds (reconstructed)",
        run=part("combinatorial:combinatorial"),
        formulation="class_bound",
        backend="highs",
    ),
    Method(
        "energetic",
        kind="relaxation",
        summary="area and window bound",
        reference="verified lower bounds (reconstructed)",
        run=part("combinatorial:energetic"),
    ),
    Method(
        "class_lp",
        kind="relaxation",
        summary="class bound by linear programming, its dual recomputed exactly",
        reference="verified lower bounds (reconstructed)",
        run=part("class_bound:class_lp"),
        formulation="class_bound",
        backend="highs",
    ),
)
