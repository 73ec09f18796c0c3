"""Upper bounds on one slot.

slot_bounds: the bounds as methods, from weakest to strongest.
config_lp: the configuration linear program, by column generation; tree_pricing: its columns.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "capacity_bound",
        kind="relaxation",
        summary="one slot: the best ring sizes by total capacity",
        reference="multiple-choice knapsack (reconstructed)",
        run=part("slot_bounds:capacity_bound"),
        formulation="capacity_bound",
    ),
    Method(
        "ring_relaxation",
        kind="relaxation",
        summary="one slot: linear relaxation of the embedding program, blind to bandwidth",
        reference="relaxation of (12)-(19), proposition P3 (reconstructed)",
        run=part("slot_bounds:ring_relaxation"),
        formulation="ring_relaxation",
    ),
    Method(
        "config_lp",
        kind="relaxation",
        summary="one slot: configuration program by column generation, certified by prices",
        reference="configuration program (reconstructed)",
        run=part("slot_bounds:config_lp"),
        parameters={"tighten": True},
        formulation="config_lp",
        backend="highs",
    ),
)
