"""The models on paper, one file each.

- `load`: P-W, the least largest load.
- `bound`: P-LB, the least head-load-tail bound.
- `joint`: P-T, plan and schedule together.
- `schedule`: the schedule of a fixed plan.
- `cp_joint`: plan and schedule together in CP-SAT.
- `plan_variables`, `plan_times`, `plan_numbers`, `decoding`: what the first three share.
"""

from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        name="load",
        model_class="MILP",
        strength="relaxation",
        summary="P-W: the least largest load of a stage or channel",
        equations="(P1)-(P13), (W1)-(W2)",
        build=part("load:build"),
        decode=part("decoding:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="load_disaggregated",
        model_class="MILP",
        strength="relaxation",
        summary="P-W with variables for layers by number of GPUs and slowest link",
        equations="(P1)-(P9), (P13), (D1)-(D6), (W1)-(W2)",
        build=part("load:build_disaggregated"),
        decode=part("decoding:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="bound",
        model_class="MILP",
        strength="relaxation",
        summary="P-LB: the least head-load-tail bound of a plan",
        equations="(P1)-(P13), (S6)",
        build=part("bound:build"),
        decode=part("decoding:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="bound_disaggregated",
        model_class="MILP",
        strength="relaxation",
        summary="P-LB with variables for layers by number of GPUs and slowest link",
        equations="(P1)-(P9), (P13), (D1)-(D6), (S6)",
        build=part("bound:build_disaggregated"),
        decode=part("decoding:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="joint",
        model_class="MILP",
        strength="exact",
        summary="P-T: plan, starts and orders of blocks together",
        equations="(P1)-(P13), (J1)-(J9)",
        build=part("joint:build"),
        decode=part("joint:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="joint_disaggregated",
        model_class="MILP",
        strength="exact",
        summary="P-T with variables for layers by number of GPUs and slowest link",
        equations="(P1)-(P9), (P13), (D1)-(D6), (J1)-(J9)",
        build=part("joint:build_disaggregated"),
        decode=part("joint:decode"),
        backends=("highs",),
    ),
)

METHODS = (
    Method(
        name="cp_joint",
        kind="exact",
        summary="plan and schedule together in CP-SAT, for at most six GPUs",
        reference="(C1)-(C6)",
        run=part("cp_joint:cp_joint"),
        formulation="cp_joint",
        backend="cpsat",
    ),
)
