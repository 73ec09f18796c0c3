"""The statement, checked on a witness instance."""

from __future__ import annotations

from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, no_better


def brute_force(document: Document) -> Finding:
    """Brute force beside the parametric search, whose bound is certified."""
    return no_better(document, "brute_force", "parametric")
