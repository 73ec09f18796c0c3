"""Statements of the paper, recalled without its text, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "score-balances",
        source="the assignment of blocks by the score (4)",
        statement="its factors keep nodes and training nodes of the parts within their caps",
        verdict="refuted",
        grade="refuted",
        check=part("checks:balance"),
        repair="nodes that cost the least are moved until the caps hold (`repair`)",
        proof="a block is assigned as a whole: one with more training nodes than the cap fits "
        "nowhere",
        witness=True,
        command="compare {} --methods bgl:block_cap=3,elimination",
        reconstructed=True,
    ),
)
