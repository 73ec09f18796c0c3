"""What closes gaps: all plans by labels, schedules of those that are left (`plans`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="exact_plans",
        kind="exact",
        summary="plans by labels, schedules by rules, local search and CP-SAT",
        reference="this project",
        run=part("plans:exact_plans"),
        parameters={"max_stages": 3},
        stochastic=True,
        formulation="exact_plans",
        backend="cpsat",
    ),
)
