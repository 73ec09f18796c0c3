"""Heuristics of ours, not in the paper.

- `greedy`: best pairs of all jobs, admitted greedily
- `variants`: SMD with one step changed
"""
