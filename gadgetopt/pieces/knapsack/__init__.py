"""Multi-dimensional knapsacks with at most one item of each group, and what solves them."""
