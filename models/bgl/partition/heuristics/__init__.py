"""Heuristics of ours, not in the paper.

- `bgl_variants`: BGL's partition with one step changed.
- `multi_start`: BGL's partition from several starts, refined.
- `annealing`: simulated annealing from BGL's partition; its loop is `proposals`.
"""
