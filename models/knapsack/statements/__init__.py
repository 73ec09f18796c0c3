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
        proof="models/knapsack/guarantees/ratios.py",
        witness=True,
        command="compare {} --methods frieze_clarke,cg_core",
    ),
)
