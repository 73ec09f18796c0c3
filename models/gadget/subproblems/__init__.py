"""Subproblems and data structures that several rooms share.

A slot: slot_problem, schedule, loads; placement and graph_placement (greedy), routing, max_ring.
Its relaxations: hull, knapsack_bound, ring_selection, ring_bounds; augmented_lp with decomposition.
Column generation: tree_pricing, bandwidth_tightening.
All slots: epochs, the relaxation by total capacity between arrivals.
"""
