"""The paper's algorithm: `plain`, step by step, and `greedy`, the fast one that does the same."""
