"""Models on paper.

- `direct`: a binary variable for every item, and its linear relaxation
"""
