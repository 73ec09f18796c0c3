"""Heuristics of ours, not in the paper.

- `hedge`: multiplicative weights on the matrix game.
- `cfr`: counterfactual regret minimisation on the tree of histories.
"""

ORDER = ("hedge", "cfr")
