"""Statements of the literature that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "frieze-clarke",
        source="Frieze and Clarke 1984",
        statement="the scheme with sets of k items has at least k/(k + m) of the optimum",
        verdict="holds",
        grade="holds",
        check=part("checks:frieze_clarke"),
        witness="knapsack/tiny/e6_two_rows.json",
    ),
)
