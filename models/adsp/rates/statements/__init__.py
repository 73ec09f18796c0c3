"""Statements of the paper, recalled without its text, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "momentum-units",
        source="Theorem 1, implicit momentum",
        statement="Gamma/(Delta C v) is a number if v is a speed in steps per second",
        verdict="refuted",
        grade="dimensions",
        check=part("checks:units"),
        repair="v is the time of a step; the authors' scripts compute local steps per commit",
        reconstructed=True,
    ),
)
