"""Heuristics of ours, not in the paper.

- `local_search`: one request is changed, added or dropped.
"""
