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
        proof="head, load and tail of every stage: (L2) in models/dapple/README.md",
        witness=True,
        command="compare {} --methods dapple,exact_plans",
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
        proof="a plan whose bound L_Q is not below the incumbent cannot improve it",
        witness=True,
        command="compare {} --methods dapple,exact_plans",
        reconstructed=True,
    ),
    Statement(
        "pivot",
        source="Eq. 2, the rule of the pivot",
        statement="the rule picks the stage that dominates the latency",
        verdict="refuted",
        grade="refuted",
        check=part("checks:pivot"),
        repair="the sum in the rule runs to Q, not to Q - 1; or the Q of the largest bound",
        proof="without AllReduce that comparison is the one of the two latencies: "
        "gadgetopt/pieces/pipeline/pivot_latency.py",
        witness=True,
        command="compare {} --methods dapple,dapple:pivot=max,exact_plans",
        reconstructed=True,
    ),
    Statement(
        "ending-of-the-pivot",
        source="Eq. 1, the case s = Q of the ending phase, in one of two readings",
        statement="E_s(Q) = -(B_Q + ... + B_s) for s = Q, too",
        verdict="refuted",
        grade="ambiguous",
        check=part("checks:ending"),
        repair="E_s(Q) = B_s + ... + B_Q for s <= Q",
        proof="the last backward block of Q ends B_Q after it starts: "
        "gadgetopt/pieces/pipeline/pivot_latency.py",
        witness=True,
        command="solve {} --method exact_plans",
        reconstructed=True,
    ),
    Statement(
        "rounds",
        source="theorem of this project on rounds",
        statement="least_bound takes at most 2 + (4S - 4)/M times the optimum",
        verdict="holds",
        grade="holds",
        check=part("checks:rounds"),
        proof="models/dapple/guarantees/ratios.py",
        witness=True,
        command="compare {} --methods least_bound,exact_plans",
        reconstructed=True,
    ),
)
