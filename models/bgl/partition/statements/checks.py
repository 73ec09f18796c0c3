"""The statement, checked on a counterexample."""

from __future__ import annotations

from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, objective, run

#: Blocks of three nodes, assigned as the score says, without moves afterwards.
AS_SCORED = "bgl_order:order=bfs:repair=false:block_cap=3"


@statement(
    source="the assignment of blocks by the score (4)",
    statement="its factors keep nodes and training nodes of the parts within their caps",
    grade="refuted",
    repair="nodes that cost the least are moved until the caps hold (`bgl`)",
    proof=(
        "a block is assigned as a whole: one with more training nodes than the cap fits nowhere"
    ),
    command="compare {} --methods bgl:block_cap=3,elimination",
    reconstructed=True,
)
def score_balances(document: Document) -> Finding:
    """The parts that the score makes, judged by the evaluator."""
    scored = run(document, AS_SCORED)
    best = objective(document, "elimination")
    shown = (
        f"{AS_SCORED}: {scored.status}, {scored.reason}; a partition within the caps costs {best:g}"
    )
    violated = scored.objective is None and "train" in (scored.reason or "")
    return Finding(None if scored.objective is None and not violated else not violated, shown)
