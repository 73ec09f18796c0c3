"""The statements, checked on small instances."""

from __future__ import annotations

from gadgetopt.trust.statements import Finding, tested_ratio

_H2 = "forest_packing/tiny/h2_heterogeneous_triangle.json"


def t4() -> Finding:
    """Multiplicative weights beside the optimum."""
    return tested_ratio(_H2, "T4", "forest_packing", "column_generation")
