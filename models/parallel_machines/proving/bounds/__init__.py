"""Lower bounds on the makespan, each with a certificate.

- `combinatorial`: mean load, longest job, and k + 1 jobs on one machine.
- `dual_feasible`: dual feasible functions refute capacities.
- `pattern_bound`: the linear pattern program refutes capacities; `patterns` solves it by column
  generation.
"""
