"""The problem of one job, which workers and servers finish it first, and the knapsack of jobs.

- `inner`: exact search, and the optimum over the reals
- `columns`: the knapsack over pairs of workers and servers; `exact_knapsack` solves it
- `ratios`: the completion time as a sum of linear ratios, and linear programs over them
"""
