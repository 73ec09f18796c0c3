"""The statement, checked on a counterexample."""

from __future__ import annotations

from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, no_better


@statement(
    source="the baseline LIF, jobs as they come",
    statement="the server of least added interference is at least as good as the emptiest one",
    grade="refuted",
    repair=("no rule of this kind has a ratio; placements are compared with certified optima"),
    proof="the rule sees only jobs that are placed already: models/marl/README.md",
    command="compare {} --methods lif,lb,price_and_close",
    reconstructed=True,
)
def least_interference_first(document: Document) -> Finding:
    """Least interference first beside load balancing."""
    return no_better(document, "lif", "lb")
