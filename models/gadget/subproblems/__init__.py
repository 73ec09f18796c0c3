"""Subproblems and data structures that several rooms share.

A slot: slot_problem, schedule, loads; placement and graph_placement (greedy), routing, max_ring.
Its relaxations: hull, ring_selection; augmented_lp and its optimum, with decomposition.
All slots: levels of the utilities.
"""
