"""Statements of the paper and its technical report (TR) that were checked.

- `checks`: lemmas, algorithms and theorems on counterexamples
- `iterations`: simulated iterations of a layered network, for the two lemmas
- `experiments`: parameters and figures of the experiments
"""
