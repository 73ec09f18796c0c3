"""The paper's algorithm, and solvers of a single slot.

gadget: the method, Algorithm 1 with a choice of slot solver; temporal_greedy: Algorithm 1 itself.
lp_rs_mde: Algorithm 2; mapping_rounding: its randomised rounding and feasible variants;
overload_factors: the factors by which Theorem 8 lets it exceed capacities.
slot_greedy: the greedy slot solver; slot_solver: the exact one.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "gadget",
        kind="online",
        summary="slot by slot, by Algorithm 2 or greedily, on concave envelopes",
        reference="Algorithms 1 and 2",
        run=part("gadget:gadget"),
        parameters={
            "slot_solver": "lp_rs_mde",
            "rounding": "fill",
            "attempts": 100,
            "utility_surrogate": "concave_envelope",
            "idle_tiebreak": False,
            "q_mode": "bound",
            "selected": True,
            "passes": 6,
            "program": "closed_form",
        },
        choices={
            "slot_solver": ("lp_rs_mde", "config_lp", "exact", "greedy"),
            "rounding": (
                "vanilla",
                "min_load",
                "max_profit",
                "violation_free",
                "knapsack",
                "fill",
            ),
            "utility_surrogate": ("concave_envelope", "true"),
            "q_mode": ("bound", "lp_paper"),
            "program": ("closed_form", "highs"),
        },
        stochastic=True,
    ),
    Method(
        "slot_exact",
        kind="exact",
        summary="one slot: total capacity, configuration program, then CP-SAT",
        reference="exact slot solver, proposition P5 (reconstructed)",
        run=part("slot_solver:slot_exact"),
        stochastic=True,
        formulation="slot_exact",
    ),
)
