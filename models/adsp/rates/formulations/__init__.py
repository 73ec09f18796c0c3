"""The models on paper, one file each.

- `nonconvex`: commits as integers, the objective as it stands; for a global solver.
- `one_hot`: a binary for each worker and number of commits: convex, and linear with tangents; under
  the momentum cap linear at once.
- `cp_tables`: tables of steps and a division, in CP-SAT.
"""
