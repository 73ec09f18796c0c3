"""The theorems: their ratios and assumptions.

- `ratios`: statements with proofs, and the assumptions as predicates
"""
