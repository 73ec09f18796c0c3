"""Statements of the paper that were checked.

- `checks`: theorem, lemmas and constraints on counterexamples
- `experiments`: settings and figures of the experiments
"""
