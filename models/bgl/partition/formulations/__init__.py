"""The models on paper: the integer program (2) in two linearisations, and clauses in CP-SAT.

- `difference`: a pair is cut if its nodes differ in some part.
- `both`: a pair is not cut in the part that has both its nodes.
- `clauses`: a constraint program.
- `coefficients`: weights as doubles, heaviest nodes first, and the size of a model.
"""

from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        name="difference",
        model_class="MILP",
        strength="exact",
        summary="a pair is cut if its nodes differ in some part; heaviest nodes fixed",
        equations="(2)",
        build=part("difference:build"),
        decode=part("difference:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="difference_lp",
        model_class="LP",
        strength="relaxation",
        summary="its linear relaxation",
        equations="(2)",
        build=part("difference:build_relaxation"),
        decode=None,
        backends=("highs",),
    ),
    Formulation(
        name="both",
        model_class="MILP",
        strength="exact",
        summary="a pair is not cut in the part that has both its nodes",
        equations="(2), second linearisation",
        build=part("both:build"),
        decode=part("difference:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="both_lp",
        model_class="LP",
        strength="relaxation",
        summary="its linear relaxation",
        equations="(2), second linearisation",
        build=part("both:build_relaxation"),
        decode=None,
        backends=("highs",),
    ),
)

METHODS = (
    Method(
        name="cp_clauses",
        kind="exact",
        summary="two clauses for every pair and part (native CP-SAT)",
        reference="(2) in clauses",
        run=part("clauses:cp_clauses"),
        formulation="clauses",
        backend="cpsat",
    ),
)
