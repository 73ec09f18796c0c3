"""The paper's algorithm, step by step.

- `pd_ors`: PD-ORS, Algorithms 1-4, slots solved exactly where that is fast.
- `rounding`: the same with the paper's roundings of slots.
- `online`: the loop over arriving jobs, which OASiS uses too.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "pd_ors",
        kind="online",
        summary="exponential prices, every job its best schedule on arrival, for good",
        reference="Algorithms 1-4",
        run=part("pd_ors:pd_ors"),
        parameters={"upper": "min"},
        choices={"upper": ("min", "sum")},
    ),
    Method(
        "pd_ors_rounding",
        kind="online",
        summary="PD-ORS with the paper's roundings of the program of a slot",
        reference="Algorithms 1-4, the roundings of Algorithm 4",
        run=part("rounding:pd_ors_rounding"),
        parameters={"upper": "min", "factor": 1.0, "attempts": 50},
        choices={"upper": ("min", "sum")},
        stochastic=True,
    ),
)
