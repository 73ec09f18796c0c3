"""Exact methods.

- `optimum`: dynamic programming, column generation with a core, and CP-SAT
- `proof`: certificates of what a search proved
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "cg_core",
        kind="exact",
        summary="dynamic program, or columns generated and a core of small reduced costs",
        reference="F3, F4 (reconstructed)",
        run=part("optimum:exact"),
        formulation="cg_core",
        backend="highs",
    ),
    Method(
        "cpsat",
        kind="exact",
        summary="utilities rounded down to whole multiples, the bound corrected for it",
        reference="F3, F4 (reconstructed)",
        run=part("optimum:cpsat"),
        parameters={"scale": 10_000},
        formulation="columns",
        backend="cpsat",
    ),
)
