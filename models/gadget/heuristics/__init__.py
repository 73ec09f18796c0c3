"""Heuristics of ours, not in the paper.

roundings: Algorithms 1 and 2 with other roundings, gains and ring sizes.
gadget_greedy: Algorithm 1 with slots solved greedily; slot_greedy: a slot, worker by worker.
ring_bounds: the largest rings that the paper reads off a relaxation.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "gadget_rounding",
        kind="online",
        summary="as gadget, with another rounding, other gains or all ring sizes",
        reference="Algorithms 1 and 2, roundings of ours (reconstructed)",
        run=part("roundings:gadget_rounding"),
        parameters={
            "rounding": "knapsack",
            "attempts": 100,
            "envelopes": True,
            "all_sizes": False,
            "program": "closed_form",
        },
        choices={
            "rounding": (
                "vanilla",
                "min_load",
                "max_profit",
                "violation_free",
                "knapsack",
                "fill",
            ),
            "program": ("closed_form", "highs"),
        },
        stochastic=True,
    ),
    Method(
        "gadget_greedy",
        kind="online",
        summary="slot by slot, the most valuable worker next",
        reference="Algorithm 1 with a greedy slot (reconstructed)",
        run=part("gadget_greedy:gadget_greedy"),
        parameters={"envelopes": True, "idle_tiebreak": False},
    ),
)
