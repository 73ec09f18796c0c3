"""The models on paper: the linear program (2) on trees of histories.

- `history_tree`: all histories; exact.
- `posted_tree`: with a price that is posted before the value is seen.
- `reduced_trees`: non-decreasing histories, and a single chain; relaxations.
"""
