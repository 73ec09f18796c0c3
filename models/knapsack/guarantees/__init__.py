"""The theorems: their ratios and assumptions.

- `ratios`: Frieze and Clarke's theorem with its proof
"""
