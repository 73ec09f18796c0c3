"""The paper's algorithm, step by step.

- `schedules`: warm-up policies, the early-backward schedule, and the record of a plan.
- `planner`: the plan of the least latency around a pivot.
- `public_planner`: the authors' public variant, an analytic score.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="dapple",
        kind="heuristic",
        summary="least latency around a pivot, three placement policies; early backward",
        reference="Fan et al. 2021, equations 1 to 5",
        run=part("planner:dapple"),
        parameters={
            "max_stages": 0,
            "memo": "best_prefix",
            "pivot": "paper",
            "ending": "derived",
            "placement": "fallback",
            "warmup": "best",
        },
        choices={
            "memo": ("none", "best_prefix"),
            "pivot": ("paper", "max"),
            "ending": ("derived", "printed"),
            "placement": ("fallback", "code"),
            "warmup": ("A", "B", "best"),
        },
    ),
    Method(
        name="dapple_code",
        kind="heuristic",
        summary="the authors' public planner, one pipeline: two stages by an analytic score",
        reference="public planner of Fan et al. 2021",
        run=part("public_planner:dapple_code"),
        parameters={"index_slip": True, "warmup": "B"},
        choices={"warmup": ("A", "B", "best")},
    ),
)
