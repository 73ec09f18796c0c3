"""The paper's algorithm, step by step.

- `pd_ors`: PD-ORS, Algorithms 1-4.
- `online`: the loop over arriving jobs, which OASiS uses too.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)
progresses: tuple[str, ...] = ("auto", "exact", "quantised", "samples")

METHODS = (
    Method(
        "pd_ors",
        kind="online",
        summary="exponential prices, every job its best schedule on arrival, for good",
        reference="Algorithms 1-4",
        run=part("pd_ors:pd_ors"),
        parameters={
            "slot_method": "auto",
            "progress": "auto",
            "quanta": 200,
            "grid": 16,
            "upper": "min",
            "log_price_span": None,
            "normalise_resources": False,
            "constants": "instance",
            "given_upper": 1.0,
            "given_lower": 1e-3,
            "history": None,
            "factor": 1.0,
            "attempts": 50,
            "keep": "first",
            "trim": True,
            "fallback": "none",
        },
        choices={
            "slot_method": ("auto", "exact_dp", "greedy", "milp", "rounding"),
            "progress": progresses,
            "upper": ("min", "sum"),
            "constants": ("instance", "given", "history"),
            "keep": ("first", "best"),
            "fallback": ("none", "greedy", "exact_dp"),
        },
        stochastic=True,
    ),
)
