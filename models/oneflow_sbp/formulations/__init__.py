"""The models on paper, one file each.

- `aggregated`: (3), a variable for every pair of labels on an edge: as strong, and smaller.
- `pairwise`: (2), a variable for every pair of signatures on an edge.
- `weak`: the linearisation that is not to be used, for its gap.
- `quadratic`: (1), products of signatures; not convex.
- `cp`: (3) as a constraint program, in CP-SAT.
- `parts`: sets, costs and the parts that the models share: memory (4), pins, ties.
"""
