"""The statement, checked on a witness instance."""

from __future__ import annotations

from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, objective, run

#: Blocks of three nodes, assigned as the score says, without moves afterwards.
AS_SCORED = "bgl:block_cap=3:repair=false"


def balance(document: Document) -> Finding:
    """The parts that the score makes, judged by the evaluator."""
    scored = run(document, AS_SCORED)
    best = objective(document, "elimination")
    shown = (
        f"{AS_SCORED}: {scored.status}, {scored.reason}; a partition within the caps costs {best:g}"
    )
    violated = scored.objective is None and "train" in (scored.reason or "")
    return Finding(None if scored.objective is None and not violated else not violated, shown)
