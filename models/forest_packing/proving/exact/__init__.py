"""Methods that prove optimality.

- `column_generation`: trees generated for the tree-pair LP; the default method, which hands over
  what the next two are faster on (`tree_columns`: the columns themselves).
- `cut_generation`: cuts generated for the cut LP, then trees for its loads.
- `arborescence_packing`, `cable_packing`: trees of symmetric networks, peeled off in integers,
  without a linear program.
- `pair_budget`: at most K tree pairs, by CP-SAT.
- `bounded_depth`: column generation over tree pairs of bounded depth.
- `equal_share`: trees of equal rate in polynomial time, by matroid union.
- `tree_plans`, `rational_duals`: exact plans and certificates from trees and duals in doubles;
  `separation`, `shallow_trees`: cuts, and cheapest trees of bounded depth.
"""
