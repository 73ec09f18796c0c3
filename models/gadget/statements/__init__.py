"""Statements of the paper that were checked.

- `checks`: constraints and algorithms on counterexamples
- `experiments`: units and figures of the experiments
"""
