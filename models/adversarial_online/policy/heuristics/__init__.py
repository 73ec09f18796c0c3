"""Heuristics of ours, not in the paper.

- `cfr`: counterfactual regret minimisation on the tree of histories.
"""
