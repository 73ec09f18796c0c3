"""What closes gaps.

- `ladder`: heuristics, elimination with more and more partial partitions, cuts, then CP-SAT.
- `branch_and_cut`: cuts of the pairs of nodes, found when violated, and cases (`cases`).
- `blocks`: the best partition that keeps blocks together, by CP-SAT: a restriction.
"""

ORDER = ("ladder", "branch_and_cut", "blocks")
