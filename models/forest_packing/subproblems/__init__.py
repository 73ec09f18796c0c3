"""Subproblems that several rooms solve, and their data structures.

- price_oracles, closure, steiner, shallow_trees: cheapest trees under prices of the rows.
- tree_generation, tree_master: column generation of trees and its restricted master.
- cut_lp, separation: the cut LP and the separation of its cuts.
- load_decomposition, edge_splitting: trees from loads; switches removed from a network.
- exact_rates, fewest_trees: best rates of given trees; the fewest trees that reach a rate.
- rational_duals, rate_grid, rate_scale: rational certificates, rate grids, scale of the LPs.
- enumeration, tree_literals, routing: all trees of tiny networks; CP-SAT trees; shortest paths.
"""
