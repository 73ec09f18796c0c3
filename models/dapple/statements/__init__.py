"""Statements of the paper, recalled without its text, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "latency-is-attained",
        source="Eq. 1, the pipeline latency",
        statement="the latency of a plan is the time of its iteration",
        verdict="refuted",
        grade="refuted",
        check=part("checks:attained"),
        repair="the largest of the bounds L_Q of a plan; the time of a schedule beside it",
        witness="dapple/tiny/d1_latency_below_optimum.json",
        reconstructed=True,
    ),
    Statement(
        "latency-ranks-plans",
        source="planning by the latency",
        statement="the plan of the least latency is the fastest",
        verdict="refuted",
        grade="refuted",
        check=part("checks:ranks"),
        repair="all plans below the incumbent, each scheduled: exact_plans",
        witness="dapple/tiny/d2_misled.json",
        reconstructed=True,
    ),
    Statement(
        "pivot",
        source="Eq. 2, the rule of the pivot",
        statement="the rule picks the stage that dominates the latency",
        verdict="refuted",
        grade="refuted",
        check=part("checks:pivot"),
        repair="the sum in the rule runs to Q, not to Q - 1",
        witness="dapple/tiny/d1_latency_below_optimum.json",
        reconstructed=True,
    ),
    Statement(
        "rounds",
        source="theorem of this project on rounds",
        statement="least_bound takes at most 2 + (4S - 4)/M times the optimum",
        verdict="holds",
        grade="holds",
        check=part("checks:rounds"),
        witness="dapple/tiny/d1_latency_below_optimum.json",
        reconstructed=True,
    ),
)
