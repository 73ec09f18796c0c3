"""Approximation algorithms of the literature.

- `plain`: Frieze and Clarke's algorithm step by step.
- `frieze_clarke`: every set of at most k items, completed by a linear program rounded down.
"""
