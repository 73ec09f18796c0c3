"""The models on paper, one file each.

- `nonconvex`: the problem as it stands, for SCIP.
- `columns`: a variable for every schedule of every job.
- `compact`: time-indexed with locality, plain and strengthened.
- `aggregated`: its relaxation with one machine per slot.
- `cp`: the compact model in CP-SAT.
"""

ORDER = ("nonconvex", "compact", "aggregated", "columns", "cp")
