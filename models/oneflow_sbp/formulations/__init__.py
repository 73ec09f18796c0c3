"""The models on paper, one file each.

- `quadratic`: (1), products of signatures; not convex.
- `pairwise`: (2), a variable for every pair of signatures on an edge.
- `aggregated`: (3), a variable for every pair of labels on an edge: as strong, and smaller.
- `weak`: the linearisation that is not to be used, for its gap.
- `cp`: (3) as a constraint program, in CP-SAT.
- `parts`: sets, costs and the parts that the models share: memory (4), pins, ties.
"""

from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        name="aggregated",
        model_class="ILP",
        strength="exact",
        summary="a variable for every pair of labels on an edge",
        equations="(3), (4); reconstructed",
        build=part("aggregated:build"),
        decode=part("parts:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="aggregated_lp",
        model_class="LP",
        strength="relaxation",
        summary="its linear relaxation",
        equations="(3), (4); reconstructed",
        build=part("aggregated:build_relaxation"),
        decode=None,
        backends=("highs",),
    ),
    Formulation(
        name="pairwise",
        model_class="ILP",
        strength="exact",
        summary="a variable for every pair of signatures on an edge",
        equations="(2), (4); reconstructed",
        build=part("pairwise:build"),
        decode=part("parts:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="pairwise_lp",
        model_class="LP",
        strength="relaxation",
        summary="its linear relaxation",
        equations="(2), (4); reconstructed",
        build=part("pairwise:build_relaxation"),
        decode=None,
        backends=("highs",),
    ),
    Formulation(
        name="weak",
        model_class="ILP",
        strength="exact",
        summary="conversions are at least s + s - 1, for teaching",
        equations="3.3, the weak form; reconstructed",
        build=part("weak:build"),
        decode=part("parts:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="weak_lp",
        model_class="LP",
        strength="relaxation",
        summary="its linear relaxation",
        equations="3.3, the weak form; reconstructed",
        build=part("weak:build_relaxation"),
        decode=None,
        backends=("highs",),
    ),
    Formulation(
        name="quadratic",
        model_class="MINLP",
        strength="exact",
        summary="products of signatures, not convex",
        equations="(1), (4); reconstructed",
        build=part("quadratic:build"),
        decode=part("parts:decode"),
        backends=("scip",),
    ),
)

METHODS = (
    Method(
        name="cp_labels",
        kind="exact",
        summary="label-aggregated rows in CP-SAT, seen as a linear relaxation",
        reference="3.6; reconstructed",
        run=part("cp:cp_labels"),
        parameters={"linearization_level": 2},
        formulation="cp_labels",
        backend="cpsat",
    ),
)
