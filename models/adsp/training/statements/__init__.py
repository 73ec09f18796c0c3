"""Statements of the paper, recalled without its text, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "commits-stay-close",
        source="Delta C = C_target - c, the condition of Theorem 2",
        statement="workers that commit what is missing to a common target stay within a constant "
        "of each other",
        verdict="refuted",
        grade="refuted",
        check=part("checks:commits"),
        repair="they do if every worker can make the rate, at most Gamma/(t + O) in a period",
        proof="models/adsp/training/guarantees/conditions.py: rates_in_reach",
        witness=True,
        command="solve {} --method adsp",
        reconstructed=True,
    ),
)
