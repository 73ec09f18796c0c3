"""Exact methods.

- `methods`: column generation and core, enumeration by the number of items, dynamic programming.
- `proof`: certificates of what a search proved.
"""
