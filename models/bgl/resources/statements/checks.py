"""The statement, checked on a counterexample."""

from __future__ import annotations

from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, no_better


@statement(
    source="isolation of resources by brute force",
    statement="brute force finds the best shares",
    proof="the threshold certificate: models/bgl/README.md, resources",
    command="compare {} --methods brute_force,parametric",
    reconstructed=True,
)
def brute_force(document: Document) -> Finding:
    """Brute force beside the parametric search, whose bound is certified."""
    return no_better(document, "brute_force", "parametric")
