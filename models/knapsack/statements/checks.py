"""The theorem, checked on a witness instance."""

from __future__ import annotations

from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, tested_ratio


def frieze_clarke(document: Document) -> Finding:
    """Two rows and five items."""
    return tested_ratio(document, "Frieze-Clarke", "frieze_clarke", "cg_core")
