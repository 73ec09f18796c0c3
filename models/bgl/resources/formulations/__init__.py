"""The models on paper, one file each.

- `products`: (9) as it stands, with products of shares and times, for SCIP.
- `tables`: a binary variable for every share, for HiGHS.
- `elements`: element constraints over ranks of times, in CP-SAT.
"""

from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        name="products",
        model_class="MINLP",
        strength="exact",
        summary="(9) with products of shares and times",
        equations="(9)",
        build=part("products:build"),
        decode=part("products:decode"),
        backends=("scip",),
    ),
    Formulation(
        name="tables",
        model_class="MILP",
        strength="exact",
        summary="a binary variable for every share of every stage",
        equations="(9), (T1)-(T5)",
        build=part("tables:build"),
        decode=part("tables:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="tables_lp",
        model_class="LP",
        strength="relaxation",
        summary="its linear relaxation",
        equations="(T1)-(T4)",
        build=part("tables:build_relaxation"),
        decode=None,
        backends=("highs",),
    ),
)

METHODS = (
    Method(
        name="cp_elements",
        kind="exact",
        summary="element constraints over ranks of times (native CP-SAT)",
        reference="(9) as elements",
        run=part("elements:cp_elements"),
        formulation="elements",
        backend="cpsat",
    ),
)
