"""The models on paper, in Pyomo or as native CP-SAT models.

- `tree_pairs`: a variable for every pair of trees.
- `flow`, `cuts`: loads of the arcs, by flows and by cuts.
- `spanning_trees`: undirected spanning trees and their compact orientation LP.
- `logical_links`: loads of the links between workers.
- `tree_budget`: at most K trees of any rates.
- `equal_share_models`: K trees of equal rate.
- `tree_budget_cp`: at most K trees of any rates, in CP-SAT.
- `loads`: shares, capacities and switch balances that models of loads have in common.

The codes of formulations, algorithms and theorems, as this package and the system's page use them:

- F1: tree-pair packing LP (formulations/tree_pairs.py)
- F2: compact flow LP, rows (1)-(6) (formulations/flow.py)
- F3: cut LP (formulations/cuts.py, subproblems/arc_loads/cut_lp.py)
- F4: F2 and F3 for other collectives, given root shares and stages that take turns
  (formulations/loads.py)
- F5: packing of undirected spanning trees on symmetric networks, and its compact form
  (formulations/spanning_trees.py)
- F6: closed forms: smallest cut, tightest rooted cut, partition, subpartition (proving/bounds/)
- F7: switches: by balances of loads (3) (F7.1), by links between workers (F7.2), by trees of
  paths through switches only, the closure (F7.3) (formulations/loads.py,
  formulations/logical_links.py, subproblems/closure.py)
- F8: restricted trees: K of equal rate (F8a), K of any rates (F8b), k a root in ForestColl (F8c),
  K pairs (F8d), fewest trees of a pool (F8e), bounded depth (F8f) (formulations/, proving/exact/,
  subproblems/fewest_trees.py)
- (1), (2), (3): root shares, capacities of rows, balances of switches (formulations/loads.py)
- (4), (5), (6): flows within the loads, flow of the broadcast to every worker, flow of the
  reduction from every worker (formulations/flow.py)
- A1: packing by multiplicative weights (algorithms/multiplicative_weights.py)
- A2: from packing to schedule: best rates and pruning (A2.1), roots (A2.2), slices (A2.3),
  periods of chunks (A2.4), T(m) and m^* (A2.5) (algorithms/forest_packing.py,
  algorithms/schedule.py, subproblems/roots.py, pipeline.py)
- A3: column generation; cut generation with decomposition of loads into trees; peeling of
  arborescences (proving/exact/, gadgetopt/pieces/graphs/arborescence_peeling.py)
- A4, A5: tree-packing number; free-share allgather (subproblems/strength.py,
  proving/bounds/partition.py, proving/bounds/subpartition.py)
- A6: ForestColl: tightest cut (A6.1), scaling to integers (A6.2), edge splitting (A6.3), packing
  of arborescences in batches (A6.4), allreduce from allgather (A6.5) (baselines/forestcoll.py,
  subproblems/rooted_cuts.py, subproblems/edge_splitting.py)
- T1-T6: theorems of the page (guarantees/ratios.py)

A row is a set of arcs with a common capacity: an arc, both directions of a half-duplex cable, or
all arcs into or out of a node with a NIC limit.
"""
