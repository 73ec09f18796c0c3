"""The models on paper, one file each.

- `retention`: which features to keep, the order being given; its linear relaxation is (5).
- `joint`: order and retention together, (6).
- `joint_cp`: the same with clauses, in CP-SAT.
"""

from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        name="retention",
        model_class="ILP",
        strength="exact",
        summary="which features stay between their uses, for a given order; sizes, host cache",
        equations="(5), (R1)-(R5)",
        build=part("retention:build"),
        decode=part("retention:decode"),
        backends=("highs", "cpsat"),
    ),
    Formulation(
        name="retention_lp",
        model_class="LP",
        strength="relaxation",
        summary="its linear relaxation, exact for unit sizes without a host",
        equations="(5)",
        build=part("retention:build_relaxation"),
        decode=None,
        backends=("highs",),
    ),
    Formulation(
        name="joint",
        model_class="MILP",
        strength="exact",
        summary="a binary variable for every request and position; the rest is continuous",
        equations="(6), (J1)-(J9)",
        build=part("joint:build"),
        decode=part("joint:decode"),
        backends=("highs",),
    ),
)

METHODS = (
    Method(
        name="cp_joint",
        kind="exact",
        summary="positions, and clauses for what is needed, kept and hit (native CP-SAT)",
        reference="(6) as clauses",
        run=part("joint_cp:cp_joint"),
        formulation="joint_clauses",
        backend="cpsat",
    ),
)
