"""Statements of the paper that were checked.

- `checks`: theorem, lemmas and constraints on witness instances
- `experiments`: settings and figures of the experiments
"""
