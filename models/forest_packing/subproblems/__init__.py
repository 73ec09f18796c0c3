"""Subproblems that several rooms solve, and their data structures.

- `price_oracles`, `closure`, `steiner`: cheapest trees under prices of the rows.
- `price_bound`, `price_certificates`: what prices prove, and the best of their roundings.
- `tree_generation`, `tree_master`: column generation of trees and its restricted master.
- `roots`: roots of undirected trees; `strength`, `rooted_cuts`: tree-packing number, tightest cut.
- `cable_trees`, `equal_trees`: trees on cables of symmetric networks, of any and of equal rates.
- `arc_loads`: loads of the arcs, and trees that carry them.
- `edge_splitting`, `routing`: switches removed from a network; shortest paths.
- `exact_rates`, `fewest_trees`: best rates of given trees; the fewest trees that reach a rate.
- `rate_grid`, `rate_scale`: rate grids, scale of the LPs.
- `enumeration`, `tree_literals`: all trees of tiny networks; CP-SAT trees.
"""
