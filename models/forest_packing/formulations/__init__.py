"""The models on paper, in Pyomo or as native CP-SAT models.

- tree_pairs: a variable for every pair of trees.
- flow, cuts, logical_links: loads of the arcs, by flows, by cuts, and on links between workers.
- loads: shares, capacities and switch balances that these three have in common.
- spanning_trees: undirected spanning trees and their compact orientation LP.
- equal_share_models: K trees of equal rate.
- tree_budget, tree_budget_cp: at most K trees of any rates.
"""

ORDER = (
    "tree_pairs",
    "flow",
    "cuts",
    "spanning_trees",
    "logical_links",
    "tree_budget",
    "equal_share_models",
    "tree_budget_cp",
)
