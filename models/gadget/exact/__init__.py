"""The offline optimum over all slots.

offline: the method, which combines the others with the epoch relaxation.
construction: greedy construction of a schedule of given totals; ring_exchange: its local search.
epoch_cuts: Benders cuts and no-goods of the relaxation; cp_totals: CP-SAT test of totals.
epoch_bound: a certificate of the bound from prices.
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
        },
        stochastic=True,
        formulation="epochs",
        backend="highs",
    ),
)
