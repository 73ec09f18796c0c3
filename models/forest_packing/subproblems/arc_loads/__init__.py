"""Loads of the arcs, and trees that carry them.

- `cut_lp`, `exact_loads`: the loads of the cut LP, in floating point and in rationals.
- `load_decomposition`, `exact_trees`, `exact_decomposition`: trees from loads.
"""
