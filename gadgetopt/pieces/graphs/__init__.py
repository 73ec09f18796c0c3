"""Graph algorithms in exact integers or in floating point; nodes are numbered 0..n-1.

- arborescence: minimum arborescences from every root of a dense digraph.
- arborescence_packing: packing of spanning arborescences in integer capacities.
- arborescence_peeling: the same on large dense networks, in 64 bits (loops: peeling_loops).
- cheapest_trees: costs of cheapest arborescences and Steiner trees, in integers of any size.
- flows: maximum flows and minimum cuts, in integers of any size.
- spanning: minimum spanning trees of one graph under changing weights.
- truncation: cheapest partitions and subpartitions by Dilworth truncation.
- undirected_costs: cost of a cheapest tree through terminals where costs are symmetric.
"""
