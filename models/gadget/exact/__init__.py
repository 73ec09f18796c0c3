"""The offline optimum over all slots.

offline: the method, which combines the others with the epoch relaxation.
construction: greedy construction of a schedule of given totals; ring_exchange: its local search.
epoch_cuts: Benders cuts and no-goods of the relaxation; cp_totals: CP-SAT test of totals.
count_relaxation, epoch_packing: the relaxation by ring counts, and schedules of its worker-slots.
epoch_bound, tree_bound: certificates of the bound from prices, or a tree over a model.
horizon_search: search of a model of all slots, from an incumbent and below a bound.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "offline",
        kind="exact",
        summary="all slots: totals by a relaxation, a schedule that reaches them, or cuts",
        reference="epoch relaxation and construction (reconstructed)",
        run=part("offline:offline"),
        parameters={
            "restarts": 20,
            "rounds": 30,
            "exchange_s": 2.0,
            "reach_s": 5.0,
            "search_s": 60.0,
            "count_rings": True,
        },
        stochastic=True,
        formulation="epochs",
        backend="highs",
    ),
)
