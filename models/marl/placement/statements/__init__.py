"""Statements of the paper, reconstructed from its abstract, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "least-interference-first",
        source="the baseline LIF, jobs as they come",
        statement="the server of least added interference is at least as good as the emptiest one",
        verdict="refuted",
        grade="refuted",
        check=part("checks:least_interference"),
        repair="no rule of this kind has a ratio; placements are compared with certified optima",
        proof="the rule sees only jobs that are placed already: models/marl/README.md",
        witness=True,
        command="compare {} --methods lif,lb,price_and_close",
        reconstructed=True,
    ),
)
