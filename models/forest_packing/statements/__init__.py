"""Statements of the paper, reconstructed from its abstract, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "many-roots",
        source="the abstract: trees with different workers as roots, read as necessary",
        statement="an optimal packing needs trees with different roots",
        verdict="refuted",
        grade="ambiguous",
        check=part("checks:many_roots"),
        repair="on symmetric networks without switches any root will do; on others roots matter",
        proof="T1 in models/forest_packing/README.md; forest_packing/roots-matter",
        witness=True,
        reconstructed=True,
    ),
    Statement(
        "partition-with-switches",
        source="T1, the bound of Tutte and Nash-Williams, on networks with switches",
        statement="some partition's bound is attained",
        verdict="refuted",
        grade="refuted",
        check=part("checks:switches"),
        repair="it is a bound; the optimum has to balance loads at switches (F2)",
        proof="T1 is about networks without switches: models/forest_packing/README.md",
        witness=True,
        command="compare {} --methods min_cut,column_generation",
        reconstructed=True,
    ),
    Statement(
        "roots-matter",
        source="the abstract: trees with different workers as roots",
        statement="different roots can make the packing faster",
        verdict="holds",
        grade="holds",
        check=part("checks:roots_matter"),
        proof="by the witness",
        witness=True,
        reconstructed=True,
    ),
    Statement(
        "t4",
        source="T4, the ratio of multiplicative weights",
        statement="multiplicative weights are within (1 - eps)^2 of the optimum",
        verdict="holds",
        grade="holds",
        check=part("checks:t4"),
        proof="models/forest_packing/guarantees/ratios.py; Garg and Konemann 2007",
        witness=True,
        command="compare {} --methods forest_packing,column_generation",
        reconstructed=True,
    ),
)
