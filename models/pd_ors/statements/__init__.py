"""Statements of the paper, recalled without its text, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "competitive-ratio",
        source="competitive ratio, exact kernel",
        statement="OPT/ALG is at most 2 max(1, ln(U/L)), whatever part of a machine a job takes",
        verdict="refuted",
        grade="refuted",
        check=part("checks:competitive_ratio"),
        repair="the theorem on small demands, proved in guarantees/ratios.py",
        witness="pd_ors/tiny/b_guarantee.json",
        reconstructed=True,
    ),
    Statement(
        "probability",
        source="competitive ratio with roundings",
        statement="the ratio holds with a probability that means something at the paper's sizes",
        verdict="refuted",
        grade="refuted",
        check=part("checks:probability"),
        repair="none is known; the notes of a run give the probability",
        reconstructed=True,
    ),
)
