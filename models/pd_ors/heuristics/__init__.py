"""Heuristics of ours, not in the paper: PD-ORS with one thing changed.

- `prices`: other ranges of its prices.
- `kernel`: other ways to find cheapest schedules.
- `repaired_rounding`: what is done with roundings that do not fit, or leave a surplus.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "pd_ors_price_span",
        kind="online",
        summary="PD-ORS with a given span ln(U / L) of its prices",
        reference="L = e^-k min U (reconstructed)",
        run=part("prices:pd_ors_price_span"),
        parameters={"log_price_span": 10.0, "upper": "min"},
        choices={"upper": ("min", "sum")},
    ),
    Method(
        "pd_ors_normalised",
        kind="online",
        summary="PD-ORS with every resource measured by its largest machine",
        reference="units that do not matter (reconstructed)",
        run=part("prices:pd_ors_normalised"),
    ),
    Method(
        "pd_ors_given_prices",
        kind="online",
        summary="PD-ORS with U and L that are given, the same for all resources",
        reference="constants known beforehand (reconstructed)",
        run=part("prices:pd_ors_given_prices"),
        parameters={"given_upper": 1.0, "given_lower": 1e-3},
    ),
    Method(
        "pd_ors_history",
        kind="online",
        summary="PD-ORS with U and L of the jobs of another instance",
        reference="constants of the past (reconstructed)",
        run=part("prices:pd_ors_history"),
        parameters={"history": ""},
    ),
    Method(
        "pd_ors_kernel",
        kind="online",
        summary="PD-ORS with another way to find cheapest schedules",
        reference="Algorithms 2 and 3 (reconstructed)",
        run=part("kernel:pd_ors_kernel"),
        parameters={"slot_method": "auto", "progress": "auto", "quanta": 200, "grid": 16},
        choices={
            "slot_method": ("auto", "exact_dp", "greedy", "milp"),
            "progress": ("auto", "exact", "quantised", "samples"),
        },
    ),
    Method(
        "pd_ors_repaired_rounding",
        kind="online",
        summary="PD-ORS with roundings of which the best is kept, and a fall-back",
        reference="Algorithm 4, repaired (reconstructed)",
        run=part("repaired_rounding:pd_ors_repaired_rounding"),
        parameters={
            "factor": 1.0,
            "attempts": 50,
            "keep": "best",
            "trim": True,
            "fallback": "greedy",
        },
        choices={"keep": ("first", "best"), "fallback": ("none", "greedy", "exact_dp")},
        stochastic=True,
    ),
)
