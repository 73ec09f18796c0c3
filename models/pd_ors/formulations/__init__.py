"""The models on paper, one file each.

- `nonconvex`: the problem as it stands, for SCIP.
- `compact`: time-indexed with locality, plain and strengthened.
- `aggregated`: its relaxation with one machine per slot.
- `columns`: a variable for every schedule of every job.
- `cp`: the compact model in CP-SAT.
"""
