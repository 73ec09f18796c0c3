"""The models on paper, one file each.

- `nonconvex`: commits as integers, the objective as it stands; for a global solver.
- `one_hot`: a binary for each worker and number of commits: convex, and linear with tangents; under
  the momentum cap linear at once.
- `cp_tables`: tables of steps and a division, in CP-SAT.
"""

from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        name="nonconvex",
        model_class="MINLP",
        strength="exact",
        summary="commits as integers, products and ratios as they stand",
        equations="(N1)-(N6)",
        build=part("nonconvex:build"),
        decode=part("nonconvex:decode"),
        backends=("scip",),
    ),
    Formulation(
        name="one_hot_convex",
        model_class="MINLP",
        strength="exact",
        summary="a binary for each number of commits; the objective is convex in S and theta",
        equations="(O1)-(O6)",
        build=part("one_hot:build_convex"),
        decode=part("one_hot:decode"),
        backends=("scip",),
    ),
    Formulation(
        name="one_hot_tangents",
        model_class="MILP",
        strength="relaxation",
        summary="a few tangents in place of the convex objective",
        equations="(O1)-(O5), (O7)",
        build=part("one_hot:build_tangents"),
        decode=part("one_hot:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="momentum_knapsack",
        model_class="MILP",
        strength="exact",
        summary="the momentum cap: a multiple-choice knapsack with a window",
        equations="(O1)-(O3), (O8)-(O9)",
        build=part("one_hot:build_knapsack"),
        decode=part("one_hot:decode"),
        backends=("highs",),
    ),
)

METHODS = (
    Method(
        name="cp_tables",
        kind="exact",
        summary="tables of steps and an integer division (native CP-SAT)",
        reference="(C1)-(C5)",
        run=part("cp_tables:cp_tables"),
        formulation="cp_tables",
        backend="cpsat",
    ),
)
