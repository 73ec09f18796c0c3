"""What closes gaps.

- `ladder`: heuristics, elimination with more and more partial partitions, cuts, then CP-SAT.
- `branch_and_cut`: cuts of the pairs of nodes, found when violated, and cases (`cases`).
"""
