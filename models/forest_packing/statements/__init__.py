"""Statements of the paper, reconstructed from its abstract, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "t4",
        source="T4, the ratio of multiplicative weights",
        statement="multiplicative weights are within 1 - eps of the optimum",
        verdict="holds",
        grade="holds",
        check=part("checks:t4"),
        witness="forest_packing/tiny/h2_heterogeneous_triangle.json",
        reconstructed=True,
    ),
)
