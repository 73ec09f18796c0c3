"""Statements of the paper, recalled without its text, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "brute-force",
        source="isolation of resources by brute force",
        statement="brute force finds the best shares",
        verdict="holds",
        grade="holds",
        check=part("checks:brute_force"),
        proof="the threshold certificate: models/bgl/README.md, resources",
        witness=True,
        command="compare {} --methods brute_force,parametric",
        reconstructed=True,
    ),
)
