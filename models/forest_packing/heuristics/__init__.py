"""Heuristics of ours, not in the paper: forest packing with one thing changed.

- packing_to_gap: stops at a gap that is proved.
- unpolished_packing: the trees of A1 with the rates that it gave them.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "packing_to_gap",
        kind="approximation",
        summary="forest packing that stops as soon as bound and rate are close",
        reference="A1, A2 (reconstructed)",
        run=part("packing_to_gap:packing_to_gap"),
        parameters={"eps": 0.1, "target_gap": 0.02, "prune": 1e-3},
    ),
    Method(
        "unpolished_packing",
        kind="approximation",
        summary="the trees of multiplicative weights with the rates that they got there",
        reference="A1, scaled by the congestion or by the theorem",
        run=part("unpolished_packing:unpolished_packing"),
        parameters={"eps": 0.1, "scaling": "congestion"},
        choices={"scaling": ("congestion", "theory")},
    ),
)
