"""Heuristics of ours, not in the paper.

- `orders`: a heavy path through the overlaps; moves that save reloads.
- `network`: the best retention for an order as a minimum-cost flow.
- `bgl_variants`: BGL with one step changed.
"""
