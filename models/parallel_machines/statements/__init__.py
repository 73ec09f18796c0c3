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
        proof="models/parallel_machines/guarantees/ratios.py",
        witness=True,
        command="compare {} --methods list_scheduling,bin_search",
    ),
    Statement(
        "graham-1969",
        source="Graham 1969",
        statement="LPT is within 4/3 - 1/(3m) of the optimum",
        verdict="holds",
        grade="holds",
        check=part("checks:graham_1969"),
        proof="models/parallel_machines/guarantees/ratios.py",
        witness=True,
        command="compare {} --methods lpt,bin_search",
    ),
    Statement(
        "multifit",
        source="Yue 1990",
        statement="MULTIFIT with k steps is within 13/11 + 2^-k of the optimum",
        verdict="holds",
        grade="holds",
        check=part("checks:multifit"),
        proof="Yue, Annals of Operations Research 24 (1990)",
        witness=True,
        command="compare {} --methods multifit,bin_search",
    ),
)
