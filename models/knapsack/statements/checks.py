"""The theorem, checked on a small instance."""

from __future__ import annotations

from gadgetopt.trust.statements import Finding, tested_ratio


def frieze_clarke() -> Finding:
    """Two rows and five items."""
    path = "knapsack/tiny/e6_two_rows.json"
    return tested_ratio(path, "Frieze-Clarke", "frieze_clarke", "cg_core")
