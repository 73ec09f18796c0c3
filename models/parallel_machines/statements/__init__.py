"""Statements of the literature that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "graham-1966",
        source="Graham 1966",
        statement="list scheduling is within 2 - 1/m of the optimum",
        verdict="holds",
        grade="holds",
        check=part("checks:graham_1966"),
        witness="parallel_machines/tiny/graham_list_three_machines.json",
    ),
    Statement(
        "graham-1969",
        source="Graham 1969",
        statement="LPT is within 4/3 - 1/(3m) of the optimum",
        verdict="holds",
        grade="holds",
        check=part("checks:graham_1969"),
        witness="parallel_machines/tiny/graham_lpt_three_machines.json",
    ),
)
