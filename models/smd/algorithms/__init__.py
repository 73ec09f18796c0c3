"""The paper's algorithms.

- `smd`: the whole of SMD, repaired and as printed; Algorithm 3 on best pairs
- `grid_search`: Algorithm 1, a grid over the values of the ratios of one job
- `rounding`: Algorithm 2, randomised rounding for one job
- `outer`: admission of jobs by Algorithm 3
- `theorem_values`: what the theorems come to on an instance
"""
