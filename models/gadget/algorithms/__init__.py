"""The paper's algorithm, step by step."""

from gadgetopt.system.declaration import Method, Parts

part = Parts(__name__)

METHODS = (
    Method(
        "gadget",
        kind="online",
        summary="slot by slot: Algorithm 2, or the best workers next, on concave envelopes",
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
        },
        stochastic=True,
    ),
    Method(
        "slot_exact",
        kind="exact",
        summary="one slot: sizes by capacity, the configuration program, then CP-SAT",
        reference="B1, B4, P5 (reconstructed)",
        run=part("slot_solver:slot_exact"),
        stochastic=True,
        formulation="slot_exact",
    ),
)
