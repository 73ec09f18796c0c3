"""The statement, checked on a witness instance."""

from __future__ import annotations

from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, no_better


def least_interference(document: Document) -> Finding:
    """Least interference first beside load balancing."""
    return no_better(document, "lif", "lb")
