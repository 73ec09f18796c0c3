"""Models of ours, one per file, from which bounds and exact methods are built.

Pyomo: `circulation`, `tree` (rings of a slot); `epoch_relaxation`, `ring_counts` (upper bounds;
`totals` is what both share, `ring_kinds` their rings).
CP-SAT: `cp_joint` (all slots, and the embedding program), `cp_circuit`, `cp_tree`.
"""
