"""The paper's algorithm, step by step.

- `plain`: as the paper has it, node by node.
- `bgl`: the whole.
- `coarsening`: blocks by breadth-first fronts, and their merging.
- `assignment`: parts of the blocks by the score (4).
"""
