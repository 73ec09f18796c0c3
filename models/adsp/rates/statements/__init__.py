"""Statements of the paper, recalled without its text, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "momentum-units",
        source="Theorem 1, implicit momentum, with v a speed in steps per second",
        statement="the momentum does not depend on the unit of time",
        verdict="refuted",
        grade="dimensions",
        check=part("checks:units"),
        repair="v is the time of a step; the authors' scripts compute local steps per commit",
        proof="Gamma/(Delta C t) is a number",
        witness=True,
        reconstructed=True,
    ),
    Statement(
        "equal-commits",
        source="one commit rate for all workers, under the error bound B2",
        statement="equal rates are the best rates",
        verdict="refuted",
        grade="refuted",
        check=part("checks:equal_commits"),
        repair="the best equal rate is found by the climb from 1; exact_rates has the best rates",
        proof="models/adsp/rates/guarantees: the bound is convex in an equal rate",
        witness=True,
        command="compare {} --methods equal_commits,exact_rates",
        reconstructed=True,
    ),
)
