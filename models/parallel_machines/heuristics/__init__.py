"""Heuristics of ours, not in the literature.

- `local_search`: over pairs of machines.
"""
