"""Relaxations, and what computes their certificates."""

from gadgetopt.system.declaration import Method, Parts

part = Parts(__name__)

METHODS = (
    Method(
        "capacity_bound",
        kind="relaxation",
        summary="one slot: the best ring sizes by total capacity",
        reference="B1 (reconstructed)",
        run=part("slot_bounds:capacity_bound"),
        formulation="capacity_bound",
    ),
    Method(
        "ring_relaxation",
        kind="relaxation",
        summary="one slot: the linear relaxation of the embedding program, blind to bandwidth",
        reference="B2: (12)-(19), P3 (reconstructed)",
        run=part("slot_bounds:ring_relaxation"),
        formulation="ring_relaxation",
    ),
    Method(
        "config_lp",
        kind="relaxation",
        summary="one slot: rings that are feasible alone, by column generation, with "
        "certified prices",
        reference="B3, B4 (reconstructed)",
        run=part("slot_bounds:config_lp"),
        parameters={"tighten": True},
        formulation="config_lp",
        backend="highs",
    ),
)
