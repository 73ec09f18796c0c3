"""Optima: of a slot, and offline over all slots.

slot_solver: one slot; slot_by_slot: Algorithm 1 with slots solved by it.

offline: the method, which combines the others with the epoch relaxation, epoch_form.
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
        "slot_exact",
        kind="exact",
        summary="one slot: total capacity, configuration program, then CP-SAT",
        reference="exact slot solver, proposition P5 (reconstructed)",
        run=part("slot_solver:slot_exact"),
        stochastic=True,
        formulation="slot_exact",
    ),
    Method(
        "gadget_exact",
        kind="online",
        summary="slot by slot, every slot solved exactly",
        reference="Algorithm 1 with exact slots (reconstructed)",
        run=part("slot_by_slot:gadget_exact"),
        parameters={"envelopes": True},
        stochastic=True,
    ),
    Method(
        "gadget_config_lp",
        kind="online",
        summary="slot by slot, the configuration program rounded",
        reference="Algorithm 1 with the configuration program (reconstructed)",
        run=part("slot_by_slot:gadget_config_lp"),
        stochastic=True,
    ),
    Method(
        "gadget_relaxed_rings",
        kind="online",
        summary="as gadget_exact, with rings as large as the paper's relaxation says",
        reference="Algorithm 1, q_i[t] from the relaxation (reconstructed)",
        run=part("slot_by_slot:gadget_relaxed_rings"),
        stochastic=True,
    ),
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
