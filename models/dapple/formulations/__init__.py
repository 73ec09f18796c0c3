"""The models on paper, one file each.

- `bound`: D-LB, the least head, load and tail of a plan.
- `joint`: D-T, plan and schedule together.
- `cp_joint`: plan and schedule together in CP-SAT.
- `counts`: plans with GPUs counted by machine, which the first two share.
"""

from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        name="bound",
        model_class="MILP",
        strength="relaxation",
        summary="D-LB: the least head, load and tail of a plan, GPUs counted by machine",
        equations="(0)-(10)",
        build=part("bound:build"),
        decode=part("bound:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="joint",
        model_class="MILP",
        strength="exact",
        summary="D-T: plan, starts and orders of blocks together",
        equations="(0)-(17)",
        build=part("joint:build"),
        decode=part("joint:decode"),
        backends=("highs",),
    ),
)

METHODS = (
    Method(
        name="cp_joint",
        kind="exact",
        summary="plan and schedule together in CP-SAT, for at most six GPUs",
        reference="(C1)-(C8)",
        run=part("cp_joint:cp_joint"),
        formulation="cp_joint",
        backend="cpsat",
    ),
)
