"""Exact methods.

- `optimum`: dynamic programming, column generation with a core, and CP-SAT
- `proof`: certificates of what a search proved
"""
