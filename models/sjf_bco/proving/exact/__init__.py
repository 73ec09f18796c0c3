"""Exact methods.

ladder: heuristics, lower bounds, search and CP-SAT models in turn, until the gap is closed.
priced_search: search in order of time, pruned by prices, whose exhaustion is checked.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "ladder",
        kind="exact",
        summary="heuristics, bounds and CP-SAT models in turn until the gap is closed",
        reference="CP-L, CP-U, CP-L2, CP-E+L2 (reconstructed)",
        run=part("ladder:ladder"),
        parameters={"rung_s": 20.0, "gpu_bins": True, "priced": True},
        formulation="cp_e_l2",
        backend="cpsat",
    ),
    Method(
        "priced_search",
        kind="exact",
        summary="search in order of time, pruned by prices of a configuration LP",
        reference="priced search (reconstructed)",
        run=part("priced_search:priced_search"),
        parameters={"checked_nodes": 400_000},
        stochastic=True,
        backend="highs",
    ),
)
