"""Formulations, one per file.

Pyomo: joint (all slots, for any model of a slot's rings); embedding, circulation, tree, ddljs;
epoch_relaxation, ring_counts (upper bounds; totals is what both share, ring_kinds their rings).
CP-SAT: cp_joint (all slots, and the embedding program), cp_circuit, cp_tree.
"""

ORDER = (
    "embedding",
    "circulation",
    "tree",
    "ddljs",
    "epoch_relaxation",
    "ring_counts",
    "cp_joint",
    "cp_circuit",
    "cp_tree",
)
