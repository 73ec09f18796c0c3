"""Heuristics of ours, not in the paper.

- `multi_start`: BGL's partition from several starts, refined.
- `annealing`: simulated annealing from BGL's partition; its loop is `proposals`.
"""

ORDER = ("multi_start", "annealing")
