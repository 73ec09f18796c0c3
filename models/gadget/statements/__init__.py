"""Statements of the paper that were checked.

- `checks`: constraints and algorithms on witness instances
- `experiments`: units and figures of the experiments
"""
