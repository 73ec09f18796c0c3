"""Models on paper, one file each.

- `nonconvex`: the paper's program as printed
- `columns`: a binary variable for every pair of every job
- `collapsed`: the knapsack of jobs with their best pairs
"""
