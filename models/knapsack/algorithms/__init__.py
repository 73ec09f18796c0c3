"""Approximation algorithms of the literature.

- `frieze_clarke`: every set of at most k items, completed by a linear program rounded down.
"""
