"""Exact methods.

- `suited_solver`: the default method
"""
