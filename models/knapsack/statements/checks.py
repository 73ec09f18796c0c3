"""The theorem, checked on a counterexample."""

from __future__ import annotations

from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, tested_ratio


@statement(
    source="Frieze and Clarke 1984",
    statement="the scheme with sets of k items has at least k/(k + m) of the optimum",
    proof="models/knapsack/guarantees/ratios.py",
    command="compare {} --methods frieze_clarke,cg_core",
)
def frieze_clarke(document: Document) -> Finding:
    """Two rows and five items."""
    return tested_ratio(document, "Frieze-Clarke", "frieze_clarke", "cg_core")
